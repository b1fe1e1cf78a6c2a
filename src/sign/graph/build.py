"""What a program has (arrays of numpy, torch or scipy, a ``Data`` of PyG, a networkx graph) ▶ parts of a Graph."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sign.errors import SignError
from sign.graph.csr import CSR, Array, ConflictingWeights, Floats
from sign.graph.csr_transforms import merge_directions
from sign.graph.edge_data import TimedEdges, features_by_entry
from sign.graph.features import Features, SparseFeatures

NUMERIC = "biuf"  # kinds of dtypes: bool, integer and float
SPLIT_NAMES = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


class Labels(NamedTuple):
    """Class indices, -1 where unknown, or a 0/1 matrix; the number of classes, and their names, if any."""

    values: Array
    classes: int
    names: tuple[str, ...]


def array_of(name: str, value: Any) -> Array:
    """Return a tensor, a list or an array as an array of numpy."""
    try:
        return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SignError(f"{name}: a {type(value).__name__} that is not an array ({error}); give a dense one") from error


def adjacency_of(edges: Any, weights: Any, nodes: int, directed: bool) -> CSR:
    """Return the adjacency of a list of edges, or of a sparse matrix whose entries are edges."""
    if _is_sparse(edges):
        if weights is not None:
            raise SignError("weights: are given beside a sparse adjacency; give them as its values")
        source, target, weights = _entries(edges, nodes)
    else:
        source, target = _pairs(edges)
    if weights is None:
        return CSR.from_edges(source, target, nodes, both=not directed)
    values = array_of("weights", weights)
    if values.dtype.kind not in NUMERIC or values.shape != source.shape:
        raise SignError(f"weights: {values.dtype} of shape {values.shape}; give one number for each of {len(source)}")
    try:
        listed = CSR.from_edges(source, target, nodes, values.astype(np.float32), combine="error")
        return listed if directed else merge_directions(listed, "error")
    except ConflictingWeights as conflict:
        raise SignError(f"weights: {conflict}; give each edge one weight, or set directed=True") from conflict


def edge_features_of(edges: Any, features: Any, adjacency: CSR, directed: bool) -> Floats | None:
    """Return the features of listed edges as one row per entry of the adjacency; None: edges have none."""
    if features is None:
        return None
    values = array_of("edge_features", features)
    source, target = _listed("edge_features", edges, values)
    values = values.reshape(len(source), -1)
    if not np.isfinite(values).all():
        raise SignError("edge_features: some are missing or infinite; replace them first")
    return features_by_entry(source, target, np.ascontiguousarray(values, np.float32), adjacency, directed, "error")


def edge_times_of(edges: Any, times: Any, nodes: int, directed: bool) -> TimedEdges | None:
    """Return the listed edges with their times; None: edges have none."""
    if times is None:
        return None
    values = array_of("edge_times", times)
    source, target = _listed("edge_times", edges, values)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise SignError(f"edge_times: of shape {values.shape}; give one finite number per edge")
    return TimedEdges.from_edges(source, target, values.astype(np.float64), nodes, both=not directed)


def _listed(name: str, edges: Any, values: Array) -> tuple[Array, Array]:
    """Return source and target of a list of edges that has a row of numeric values for each."""
    if _is_sparse(edges):
        raise SignError(f"{name}: are given beside a sparse adjacency, whose edges have no order; list the edges")
    source, target = _pairs(edges)
    if values.dtype.kind not in NUMERIC or not values.ndim or len(values) != len(source):
        raise SignError(f"{name}: {values.dtype} of shape {values.shape}; give numbers for each of {len(source)} edges")
    return source, target


def _is_sparse(edges: Any) -> bool:
    return hasattr(edges, "tocoo") or str(getattr(edges, "layout", "torch.strided")) != "torch.strided"


def _pairs(edge_index: Any) -> tuple[Array, Array]:
    """Return source and target of a 2 × m or m × 2 array, or of a pair of arrays."""
    if isinstance(edge_index, tuple) and len(edge_index) == 2 and all(hasattr(ends, "shape") for ends in edge_index):
        source, target = (array_of("edge_index", ends) for ends in edge_index)
        return source, target
    edges = array_of("edge_index", edge_index)
    if edges.ndim != 2 or 2 not in edges.shape or edges.dtype.kind not in "iu":
        if not edges.size:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        raise SignError(f"edge_index: {edges.dtype} of shape {edges.shape}; it must be integers, 2 × m or m × 2")
    if edges.shape == (2, 2) and not np.array_equal(edges, edges.T):
        raise SignError("edge_index: of shape (2, 2) is ambiguous; give two arrays, (source, target)")
    source, target = edges if edges.shape[0] == 2 else edges.T
    return source, target


def _entries(matrix: Any, nodes: int) -> tuple[Array, Array, Array | None]:
    """Return rows, columns and values of a sparse matrix of scipy or torch; values of one are no weights."""
    if tuple(matrix.shape) != (nodes, nodes):
        raise SignError(f"adjacency: of shape {tuple(matrix.shape)} for {nodes} nodes; it must be {nodes} × {nodes}")
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        source, target, values = entries.row, entries.col, entries.data
    else:
        import torch

        entries = matrix.detach().cpu().to_sparse(layout=torch.sparse_coo).coalesce()
        (source, target), values = entries.indices().numpy(), entries.values().numpy()
    kept = values != 0
    source, target, values = source[kept], target[kept], values[kept]
    return source, target, None if (values == 1).all() else values


def features_of(x: Any) -> Features:
    """Return features in float32; a sparse matrix of scipy stays sparse."""
    if hasattr(x, "tocsr"):
        rows = x.tocsr(copy=True)
        rows.sum_duplicates()  # also sorts: equal features have equal digests
        return SparseFeatures(rows.indptr.astype(np.int64), rows.indices, x.shape[1], rows.data.astype(np.float32))
    values = array_of("x", x)
    if values.ndim != 2 or values.dtype.kind not in NUMERIC:
        raise SignError(f"x: {values.dtype} of shape {values.shape}; features must be numbers, nodes × columns")
    with np.errstate(over="ignore"):  # infinite values are refused by Graph
        return np.ascontiguousarray(values, np.float32)


def labels_of(y: Any, class_names: Sequence[str] | None, nodes: int) -> Labels:
    """Return the labels of all nodes; None: all are unknown."""
    names = tuple(map(str, class_names if class_names is not None else ()))
    if len(set(names)) < len(names):
        raise SignError("class_names: a name is duplicated; name each class once")
    if y is None:
        return Labels(np.full(nodes, -1), len(names), names)
    values = array_of("y", y.toarray() if hasattr(y, "toarray") else y)
    if values.ndim == 2 and values.shape[1] > 1:
        return Labels(_label_matrix(values), values.shape[1], names)
    if values.ndim == 0 or values.size != len(values):
        raise SignError(f"y: of shape {values.shape}; give one label per node, or a matrix of 0 and 1")
    values = values.reshape(-1)
    return _numbers(values, names) if values.dtype.kind in NUMERIC else _texts(values.tolist(), names)


def _label_matrix(values: Array) -> Array:
    """Check a matrix with one column per label; -1 or NaN marks a node without labels."""
    matrix = np.full(values.shape, -1, np.int8)
    matrix[values == 0] = 0
    matrix[values == 1] = 1
    invalid = (matrix < 0) & (values != -1) & (values == values)
    if invalid.any():
        raise SignError(f"y: contains {values[invalid][0]}; several labels per node must be columns of 0 and 1")
    return matrix


def _numbers(values: Array, names: tuple[str, ...]) -> Labels:
    """Labels that are numbers of classes; -1 or NaN is unknown."""
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
    labels = np.where(unknown, -1, values).astype(np.int64)
    largest, smallest = int(labels.max(initial=-1)), int(labels.min(initial=-1))
    if smallest < -1 or (labels != np.where(unknown, -1, values)).any():
        raise SignError("y: labels must be the numbers of classes, 0, 1, …, or -1 if unknown; or give text")
    if names and largest >= len(names):
        raise SignError(f"y: contains class {largest}, but there are {len(names)} class_names; name all classes")
    if largest >= max(len(values), 2):
        raise SignError(f"y: contains class {largest}, but classes are numbered 0, 1, …; give other numbers as text")
    return Labels(labels, len(names) or largest + 1, names)


def _texts(values: list[Any], names: tuple[str, ...]) -> Labels:
    """Labels that are names of classes; None, NaN or an empty text is unknown."""
    texts = [None if value is None or value != value or value == "" else value for value in values]
    if other := [text for text in texts if text is not None and not isinstance(text, str)]:
        raise SignError(f"y: contains {other[0]!r} beside text; labels must be all text or all integers")
    found = {text for text in texts if text is not None}
    if names and (extra := sorted(found - set(names))):
        raise SignError(f"y: contains {extra[0]!r}, which is not in class_names; name all classes")
    names = names or tuple(sorted(found))
    numbers = {name: number for number, name in enumerate(names)} | {None: -1}
    return Labels(np.array([numbers[text] for text in texts], np.int64), len(names), names)


def split_of(name: str, nodes: Any, size: int) -> Array:
    """Return the sorted nodes of a split, from a mask or a list of indices; None: it has none."""
    if nodes is None:
        return np.empty(0, np.int64)
    values = array_of(name, nodes)
    if values.ndim != 1:
        raise SignError(f"{name}: of shape {values.shape}; give one mask or list of nodes, such as {name}[:, 0]")
    if values.dtype.kind != "b":
        return np.sort(values) if values.size else np.empty(0, np.int64)
    if len(values) != size:
        raise SignError(f"{name}: a mask of {len(values)} for {size} nodes; give one entry per node")
    return np.flatnonzero(values)


def ids_of(node_ids: Any, nodes: int) -> Array | None:
    """Return ids as integers or text; None: nodes are numbered."""
    if node_ids is None:
        return None
    values = array_of("node_ids", node_ids)
    if values.ndim != 1 or values.dtype.kind not in "iuUOT":
        raise SignError(f"node_ids: {values.dtype} of shape {values.shape}; give one integer or text per node")
    if values.dtype.kind not in "iu":
        values = np.array([str(value) for value in values.tolist()], np.dtypes.StringDType())
    if len(set(values.tolist())) < len(values):
        raise SignError("node_ids: an id is duplicated; ids must be unique")
    return values


def groups_of(groups: Any, where: str = "groups") -> Array | None:
    """Return the number of the group of each node, from any integers or text; None: there are no groups."""
    if groups is None:
        return None
    values = array_of(where, groups)
    if values.ndim != 1 or values.dtype.kind not in "iuUOT":
        raise SignError(f"{where}: {values.dtype} of shape {values.shape}; give one integer or text per node")
    if values.dtype.kind not in "iu":
        values = np.array([str(value) for value in values.tolist()], np.dtypes.StringDType())
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def pyg_arguments(data: Any) -> dict[str, Any]:
    """Return what :meth:`Graph.from_edges` takes, from a ``Data`` object of PyG."""
    contents = {name: data[name] for name in data.keys() if data[name] is not None}  # noqa: SIM118
    if "x" not in contents:
        raise SignError("the data object has no x; SIGN diffuses features: add them")
    if "edge_index" in contents:
        edges, weights = contents["edge_index"], contents.get("edge_weight")
        if edges.dim() != 2 or edges.shape[0] != 2:
            raise SignError(f"edge_index: of shape {tuple(edges.shape)}; of PyG it must be 2 × m")
        edges = (edges[0], edges[1])
    elif "adj_t" in contents:
        edges, weights = contents["adj_t"].t(), None
    else:
        raise SignError("the data object has no edge_index and no adj_t; add one of them")
    splits = {split: contents.get(f"{split}_mask") for split in ("train", "val", "test")}
    names = {name: contents.get(name) for name in ("class_names", "feature_names", "node_ids")}
    return {"edge_index": edges, "x": contents["x"], "y": contents.get("y"), "weights": weights, **splits, **names}


def networkx_arguments(g: Any, features: str, labels: str, split: str, weight: str) -> dict[str, Any]:
    """Return what :meth:`Graph.from_edges` takes, from a graph of networkx with attributes of these names."""
    nodes = list(g.nodes)
    positions = {node: position for position, node in enumerate(nodes)}
    edges = np.array([(positions[one], positions[two]) for one, two in g.edges()], np.int64).reshape(-1, 2)
    found = [value for *_, value in g.edges(data=weight)]
    weighted = any(value is not None for value in found)
    if missing := [node for node in nodes if features not in g.nodes[node]]:
        raise SignError(f"node {missing[0]!r}: has no attribute {features!r}; give every node its features there")
    known: Any = [g.nodes[node].get(labels) for node in nodes]
    if all(label is None for label in known):
        known = None
    elif any(label is None for label in known) and not any(isinstance(label, str) for label in known):
        sizes = {np.size(label) for label in known if label is not None}
        known = [np.full(max(sizes), -1).squeeze() if label is None else label for label in known]
    named = any(not isinstance(node, int) for node in nodes) or nodes != list(range(len(nodes)))
    return {
        "edge_index": (edges[:, 0], edges[:, 1]),
        "x": [np.atleast_1d(array_of(features, g.nodes[node][features])) for node in nodes],
        "y": known,
        "weights": [1.0 if value is None else value for value in found] if weighted else None,
        "node_ids": nodes if named else None,
        "directed": g.is_directed(),
        **_named_splits(split, [g.nodes[node].get(split) for node in nodes]),
    }


def _named_splits(attribute: str, names: Iterable[Any]) -> dict[str, Array]:
    """Return the nodes of each split, from the name of the split of each node, or None."""
    assigned = []
    for name in names:
        if name is not None and name not in SPLIT_NAMES:
            raise SignError(f"{attribute}={name!r}: is not a split; use train, val or test, or leave it out")
        assigned.append(SPLIT_NAMES.get(name, ""))
    return {split: np.flatnonzero(np.array(assigned) == split) for split in ("train", "val", "test")}
