"""A ``Data`` object of PyG that was saved with ``torch.save``, loaded without running code of the file."""

import logging
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import REMEDY, check_rows, dense_features
from sign.datasets.custom.edge_columns import NO_COLUMNS, EdgeColumns
from sign.datasets.custom.edges import Edges
from sign.datasets.custom.folder import GraphParts, Splits
from sign.datasets.custom.labels import Labels, labels_of_array
from sign.datasets.custom.node_ids import id_array
from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.build import groups_of
from sign.graph.csr import Array
from sign.graph.graph import SPLITS

TENSORS = ("x", "edge_index", "edge_weight", "y", *(f"{split}_mask" for split in SPLITS))
NAMES = ("class_names", "feature_names", "node_ids")  # lists of text; ids may be a tensor of integers
log = logging.getLogger(__name__)


def read_pyg(
    file: Path,
    draw: Callable[[Labels], Splits],
    labelled: bool = True,
    edge_columns: EdgeColumns = NO_COLUMNS,
    group: str | None = None,
) -> GraphParts:
    """Read edge_index, y and, if present, x, edge_weight, masks of the splits, and names.

    ``draw`` draws splits if there are no masks. Unless the graph has to be ``labelled``, y may be missing.
    ``edge_columns`` names further tensors of edges, ``group`` that of the groups of nodes.
    """
    with read_errors(file, "a Data object of PyG that contains only tensors", REMEDY):
        others = (*edge_columns.names, *(() if group is None else (group,)))
        data = _load(file, others)
        fields = {name: _array(file, name, data[name]) for name in (*TENSORS, *others) if name in data}
        if group is not None and group not in fields:
            raise SignError(f"{file}: has no {group}, which dataset.groups={group} names")
        for name in ("edge_index", "y" if labelled or "x" not in fields else "edge_index"):
            if name not in fields:
                raise SignError(f"{file}: has no {name}; a graph needs edge_index and y")
        edges = fields["edge_index"]
        if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind != "i":
            raise SignError(f"{file}: edge_index has shape {edges.shape}; it must be integers, 2 × m")
        features = dense_features(fields["x"], file) if "x" in fields else None
        labels = labels_of_array(fields["y"], f"{file}, y") if "y" in fields else Labels.unknown(len(fields["x"]))
        if features is not None:
            check_rows(len(labels), len(features), file)
        names = {name: _names(file, name, data[name]) for name in NAMES if name in data}
        if "class_names" in names:
            labels = _name_classes(file, labels, names["class_names"])
        weights = fields.get("edge_weight")
        features_and_times = edge_columns.from_tensors(fields, file, edges.shape[1])
        return GraphParts(
            edges=Edges(
                edges[0], edges[1], None if weights is None else weights.astype(np.float32), file, *features_and_times
            ),
            features=features,
            labels=labels,
            splits=_masks(file, fields, len(labels)) or draw(labels),
            feature_names=tuple(names.get("feature_names", ())),
            node_ids=id_array(names["node_ids"]) if "node_ids" in names else None,
            groups=None if group is None else groups_of(fields[group], f"{file}, {group}"),
        )


def _load(file: Path, others: Collection[str]) -> dict[str, Any]:
    """Load what the object contains, by name; what is neither known nor among ``others`` is named in the log."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    # safe_globals removes its classes afterwards, also those that PyG has registered itself
    known = torch.serialization.get_safe_globals()
    needed = [kind for kind in (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage) if kind not in known]
    with torch.serialization.safe_globals(needed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is refused next
        data = torch.load(file, map_location="cpu", weights_only=True)
    if type(data) is not Data:
        raise SignError(f"{file}: contains a {type(data).__name__}; save a Data object of PyG")
    contents = {str(name): data[name] for name in data.keys() if data[name] is not None}  # noqa: SIM118
    if unused := sorted(contents.keys() - {*TENSORS, *NAMES, *others}):
        advice = (
            "; save weights of edges as edge_weight, or name features of edges in dataset.edge_features"
            if "edge_attr" in unused
            else ""
        )
        log.info("%s: not used: %s%s", file, ", ".join(unused), advice)
    return contents


def _array(file: Path, name: str, tensor: Any) -> Array:
    """Return a tensor as an array; an expanded one could claim more numbers than any memory has."""
    if tensor.numel() * tensor.element_size() > file.stat().st_size:
        raise SignError(
            f"{file}: {name} has shape {tuple(tensor.shape)}, more than the file contains; save a contiguous tensor"
        )
    array: Array = tensor.detach().cpu().numpy()
    return array


def _names(file: Path, name: str, value: Any) -> list[Any]:
    """Check a list of names; ids may be integers."""
    names = value.tolist() if hasattr(value, "tolist") else value
    kinds = (str, int) if name == "node_ids" else (str,)
    if not isinstance(names, list) or not any(all(type(item) is kind for item in names) for kind in kinds):
        raise SignError(f"{file}: {name} must be a list of text{' or integers' if int in kinds else ''}")
    return names


def _name_classes(file: Path, labels: Labels, names: list[Any]) -> Labels:
    """Name classes by the numbers in y, of which some may not occur."""
    numbers = [int(number) for number in labels.names] or range(labels.classes)
    if max(numbers) >= len(names):
        raise SignError(f"{file}: y has class {max(numbers)}, but class_names has {len(names)} names")
    return replace(labels, names=tuple(names[number] for number in numbers))


def _masks(file: Path, fields: dict[str, Array], nodes: int) -> Splits | None:
    masks = {split: fields[f"{split}_mask"] for split in SPLITS if f"{split}_mask" in fields}
    for split, mask in masks.items():
        if mask.shape != (nodes,) or mask.dtype != np.bool_:
            raise SignError(f"{file}: {split}_mask has shape {mask.shape}; it must be boolean, one value per node")
    return {split: np.flatnonzero(masks.get(split, ())) for split in SPLITS} if masks else None
