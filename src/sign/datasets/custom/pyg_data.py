"""A ``Data`` object of PyG that was saved by ``torch.save``, loaded without running anything of the file."""

from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import check_rows, dense_features, opened
from sign.datasets.custom.folder import labels_of
from sign.datasets.custom.parts import Parts
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS


def read_pyg(file: Path) -> Parts:
    """Its x, edge_index, y and, if there are, edge_weight and the masks train_mask, val_mask and test_mask."""
    with opened(file, "one Data of PyG, which holds nothing but tensors"):
        data = _load(file)
        fields = {name: value.detach().cpu().numpy() for name, value in data.items()}
        for name in ("x", "edge_index", "y"):
            if name not in fields:
                raise SignError(f"{file}: has no {name}; a graph needs x, edge_index and y")
        edges, features = fields["edge_index"], dense_features(fields["x"], file)
        if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind != "i":
            raise SignError(f"{file}: edge_index has shape {edges.shape}; it must be whole numbers, 2 × m")
        labels, classes = labels_of(fields["y"], f"{file}, y")
        check_rows(len(labels), len(features), file)
        weights = fields.get("edge_weight")
        if weights is not None:
            weights = weights.astype(np.float32)
        splits = _masks(file, fields, len(features))
        return Parts(edges[0], edges[1], weights, features, labels, classes, splits)


def _load(file: Path) -> dict[str, Any]:
    """The tensors that matter, by name."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    # what PyG has allowed itself would be forbidden again afterwards, also to PyG
    known = torch.serialization.get_safe_globals()
    needed = [kind for kind in (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage) if kind not in known]
    with torch.serialization.safe_globals(needed):
        data = torch.load(file, map_location="cpu", weights_only=True)
    if type(data) is not Data:
        raise SignError(f"{file}: holds a {type(data).__name__}; save one Data of PyG")
    wanted = ("x", "edge_index", "edge_weight", "y", *(f"{split}_mask" for split in SPLITS))
    return {name: data[name] for name in wanted if name in data and data[name] is not None}


def _masks(file: Path, fields: dict[str, Array], nodes: int) -> dict[str, Array] | None:
    masks = {split: fields[f"{split}_mask"] for split in SPLITS if f"{split}_mask" in fields}
    for split, mask in masks.items():
        if mask.shape != (nodes,) or mask.dtype != np.bool_:
            raise SignError(
                f"{file}: {split}_mask has shape {mask.shape}; it must be true or false for each node"
            )
    if not masks:
        return None
    empty = np.empty(0, np.int64)
    return {split: np.flatnonzero(masks[split]) if split in masks else empty for split in SPLITS}
