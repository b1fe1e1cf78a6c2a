"""A ``Data`` object of PyG that was saved with ``torch.save``, loaded without running code of the file."""

from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import REMEDY, check_rows, dense_features
from sign.datasets.custom.folder import GraphParts, labels_of
from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS


def read_pyg(file: Path) -> GraphParts:
    """Read x, edge_index, y and, if present, edge_weight, train_mask, val_mask and test_mask."""
    with read_errors(file, "a Data object of PyG that contains only tensors", REMEDY):
        data = _load(file)
        fields = {name: value.detach().cpu().numpy() for name, value in data.items()}
        for name in ("x", "edge_index", "y"):
            if name not in fields:
                raise SignError(f"{file}: has no {name}; a graph needs x, edge_index and y")
        edges, features = fields["edge_index"], dense_features(fields["x"], file)
        if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind != "i":
            raise SignError(f"{file}: edge_index has shape {edges.shape}; it must be integers, 2 × m")
        labels, classes = labels_of(fields["y"], f"{file}, y")
        check_rows(len(labels), len(features), file)
        weights = fields.get("edge_weight")
        if weights is not None:
            weights = weights.astype(np.float32)
        splits = _masks(file, fields, len(features))
        return GraphParts(edges[0], edges[1], weights, features, labels, classes, splits)


def _load(file: Path) -> dict[str, Any]:
    """Load the tensors that are used, by name."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    # safe_globals removes its classes afterwards, also those that PyG has registered itself
    known = torch.serialization.get_safe_globals()
    needed = [kind for kind in (Data, DataEdgeAttr, DataTensorAttr, GlobalStorage) if kind not in known]
    with torch.serialization.safe_globals(needed):
        data = torch.load(file, map_location="cpu", weights_only=True)
    if type(data) is not Data:
        raise SignError(f"{file}: contains a {type(data).__name__}; save a Data object of PyG")
    names = ("x", "edge_index", "edge_weight", "y", *(f"{split}_mask" for split in SPLITS))
    return {name: data[name] for name in names if name in data and data[name] is not None}


def _masks(file: Path, fields: dict[str, Array], nodes: int) -> dict[str, Array] | None:
    masks = {split: fields[f"{split}_mask"] for split in SPLITS if f"{split}_mask" in fields}
    for split, mask in masks.items():
        if mask.shape != (nodes,) or mask.dtype != np.bool_:
            raise SignError(f"{file}: {split}_mask has shape {mask.shape}; it must be boolean, one value per node")
    return {split: np.flatnonzero(masks.get(split, ())) for split in SPLITS} if masks else None
