"""A second reader of users' graphs, written from the documentation alone: slow, dense and strict."""

import csv
import gzip
import io
import math
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

SPLITS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
WEIGHT = {"weight", "weights", "w"}
ID, LABEL, SPLIT = {"id", "node", "node_id"}, {"label", "labels", "class", "y"}, {"split"}
MISSING = {"", "nan", "-nan", "none", "null", "na", "n/a", "#n/a", "<na>", "?", "-"}
WEIGHTS = (1e-12, 1e12)
INTEGER = r"(0|-?[1-9][0-9]*)(\.0)?"
MAX_CELLS = 10**6


class Invalid(Exception):
    """A graph that must be refused."""


@dataclass(frozen=True)
class Reference:
    """The arrays that a graph must have; without ``splits`` they are drawn."""

    adjacency: np.ndarray
    features: np.ndarray
    labels: np.ndarray
    splits: dict[str, list[int]] | None

    def difference(self, graph: Any) -> str | None:
        """Name the first part in which a graph of SIGN differs."""
        found = {
            "adjacency": graph.adjacency.to_scipy().toarray(),
            "features": np.asarray(graph.features[slice(None)]),
            "labels": np.asarray(graph.labels),
        }
        for name, array in found.items():
            expected = getattr(self, name)
            if array.shape != expected.shape or not np.array_equal(array, expected):
                return f"{name} {array.tolist()} in place of {expected.tolist()}"[:600]
        splits = {split: graph.nodes_of(split).tolist() for split in ("train", "val", "test")}
        if self.splits is None:
            known = np.flatnonzero((self.labels.reshape(len(self.labels), -1) >= 0).all(axis=1)).tolist()
            return None if sorted(chain(*splits.values())) == known else f"splits {splits}"
        return None if splits == self.splits else f"splits {splits} in place of {self.splits}"


def read_graph(path: Path) -> Reference:
    """Read a graph; raises :class:`Invalid`, or whatever the libraries raise, if it must be refused."""
    if path.is_file():
        return _read_data(path)
    files = {file.name.split(".")[0]: file for file in sorted(path.iterdir()) if file.is_file()}
    nodes = _read_table(files["nodes"], header=True) if "nodes" in files else {}
    labels = _labels(files.get("labels"), nodes)
    names = _pick(nodes, ID)
    ids = None if names is None else [_text(cell) for cell in nodes[names]]
    _check(ids is None or (len(set(ids)) == len(ids) and "" not in ids), "ids")
    features = _features(files.get("features"), nodes)
    _check(len(features) == len(labels) and (ids is None or len(ids) == len(labels)), "rows")
    splits = _splits(files, nodes, ids, len(labels))
    return _reference(_edges(files["edges"], ids), len(labels), features, labels, splits)


def _read_data(file: Path) -> Reference:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
        data = torch.load(file, weights_only=True)
    source, target = data.edge_index.tolist()
    weights = data.edge_weight.tolist() if "edge_weight" in data else [1.0] * len(source)
    single = data.y.ndim == 1 or data.y.shape[1:] == (1,)
    labels = _classes(data.y.flatten().tolist()) if single else data.y.numpy()
    splits = None
    if "train_mask" in data:
        masks = {split: data[f"{split}_mask"] for split in ("train", "val", "test")}
        splits = {split: mask.nonzero().flatten().tolist() for split, mask in masks.items()}
    return _reference(
        [*zip(source, target, weights, strict=True)], len(data.y), data.x.detach().numpy(), labels, splits
    )


def _reference(
    edges: list[tuple[int, int, float]],
    nodes: int,
    features: np.ndarray,
    labels: np.ndarray,
    splits: dict[str, list[int]] | None,
) -> Reference:
    """Check what all formats have in common and build the dense adjacency of an undirected graph."""
    adjacency = np.zeros((nodes, nodes), np.float32)
    for source, target, weight in edges:
        _check(0 <= source < nodes and 0 <= target < nodes, "an edge beyond the nodes")
        _check(WEIGHTS[0] <= weight <= WEIGHTS[1], f"weight {weight}")
        known = adjacency[source, target]
        _check(known in (0, np.float32(weight)), "different weights of one edge")
        adjacency[source, target] = adjacency[target, source] = weight
    with np.errstate(over="ignore"):
        features = features.astype(np.float32)
    _check(features.ndim == 2 and features.shape[1] > 0 and bool(np.isfinite(features).all()), "features")
    used = sorted(chain(*splits.values())) if splits else []
    _check(len(set(used)) == len(used) and all(0 <= node < nodes for node in used), "splits")
    _check(all((labels[node] >= 0).all() for node in used), "a node in a split without a label")
    return Reference(adjacency, features, labels, splits)


def _check(valid: bool, what: str) -> None:
    if not valid:
        raise Invalid(what)


def _read_table(file: Path, header: bool) -> dict[str, list[Any]]:
    """Read columns by name, "0", "1", … without a header."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        _check(len(set(table.column_names)) == table.num_columns and all(table.column_names), "names")
        return table.to_pydict()
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    text = content.decode("utf-8-sig")
    usual = "\t" if ".tsv" in file.name else ","
    first = text.splitlines()[0]
    separator = usual if usual in first else next((mark for mark in ",;\t|" if mark in first), usual)
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)]
    rows = [row for row in rows if row]
    names = [str(column) for column in range(len(rows[0]))]
    if header:
        names, *rows = rows
        _check(len(set(names)) == len(names) and all(names), "names")
    return {name: [row[column] for row in rows] for column, name in enumerate(names)} if _even(rows, names) else {}


def _even(rows: list[list[str]], names: list[str]) -> bool:
    _check(all(len(row) == len(names) for row in rows), "rows of different lengths")
    return True


def _pick(table: dict[str, list[Any]], names: set[str]) -> str | None:
    found = [name for name in table if name.lower() in names]
    _check(len(found) <= 1, "two columns that mean the same")
    return found[0] if found else None


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


def _number(cell: Any) -> float:
    text = _text(cell)
    return math.nan if text.lower() in MISSING else float(text)


def _integer(cell: Any) -> int:
    text = _text(cell)
    _check(re.fullmatch(r"[+-]?[0-9]+(\.0)?", text) is not None, f"{text} is not an integer")
    return int(text.removesuffix(".0"))


def _edges(file: Path, ids: list[str] | None) -> list[tuple[int, int, float]]:
    if file.suffix == ".npy":
        array = np.load(file, allow_pickle=False)
        _check(array.ndim == 2 and array.dtype.kind in "iuU" and array.shape != (2, 2), "edges")
        columns: list[list[Any]] = (array if array.shape[0] == 2 else array.T).tolist()
        _check(len(columns) == 2, "edges")
    else:
        header = file.suffix == ".parquet" or any(
            name in re.split(r"[\s,;|\"]+", _first_line(file).lower()) for pair in PAIRS for name in pair
        )
        table = _read_table(file, header)
        if header:
            pairs = [(a, b) for one, two in PAIRS if (a := _pick(table, {one})) and (b := _pick(table, {two}))]
            _check(len(pairs) == 1, "the columns of an edge")
            weight = _pick(table, WEIGHT)
            columns = [table[name] for name in (*pairs[0], *([weight] if weight else []))]
        else:
            columns = list(table.values())
            _check(len(columns) in (2, 3), "columns")
    source, target = ([_index(cell, ids) for cell in column] for column in columns[:2])
    weights = [_number(cell) for cell in columns[2]] if len(columns) > 2 else [1.0] * len(source)
    return [*zip(source, target, weights, strict=True)]


def _first_line(file: Path) -> str:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.decode("utf-8-sig").splitlines()[0]


def _index(cell: Any, ids: list[str] | None) -> int:
    return _integer(cell) if ids is None else ids.index(_text(cell))


def _labels(file: Path | None, nodes: dict[str, list[Any]]) -> np.ndarray:
    name = _pick(nodes, LABEL)
    _check((file is None) != (name is None), "labels twice, or none")
    if file is None:
        return _classes(nodes[name or ""])
    if file.suffix != ".npy":
        header = any(name in _first_line(file).lower().split(",") for name in LABEL)
        (column,) = _read_table(file, header).values()
        return _classes(column)
    array = np.load(file, allow_pickle=False)
    if array.ndim == 1 or array.shape[1:] == (1,):
        return _classes(array.reshape(-1).tolist())
    _check(array.ndim == 2 and array.dtype.kind in "biuf", "labels")
    _check(bool((np.isin(array, (-1, 0, 1)) | (array != array)).all()), "labels")
    return np.where(np.isin(array, (0, 1)), array, -1).astype(np.int8)


def _classes(cells: list[Any]) -> np.ndarray:
    """Return the position of each label among the sorted labels, -1 if it is missing."""
    texts = [_text(cell) for cell in cells]
    known = {text for text in texts if text.lower() not in MISSING}
    if all(re.fullmatch(INTEGER, text) for text in known):
        texts = [text.removesuffix(".0") for text in texts]
        names = [str(number) for number in sorted({int(text.removesuffix(".0")) for text in known} - {-1})]
        _check(not names or int(names[0]) >= 0, "negative labels")
    else:
        _check(all(isinstance(cell, str) for cell in cells if cell is not None), "labels")
        names = sorted(known - {"-1"})
    _check(bool(names), "no labels")
    return np.array([names.index(text) if text in names else -1 for text in texts])


def _features(file: Path | None, nodes: dict[str, list[Any]]) -> np.ndarray:
    if file is None:
        other = {_pick(nodes, kind) for kind in (ID, LABEL, SPLIT)}
        table = {name: column for name, column in nodes.items() if name not in other}
    elif file.suffix == ".parquet":
        table = _read_table(file, header=True)
    else:
        if file.suffix == ".npz":
            import scipy.sparse

            matrix = scipy.sparse.load_npz(file)
            _check(matrix.shape[0] * matrix.shape[1] < MAX_CELLS and matrix.nnz < MAX_CELLS, "size")
            array = matrix.toarray()
        else:
            array = np.load(file, allow_pickle=False)
        _check(array.dtype.kind in "biuf", "features")
        return np.asarray(array)
    return np.array([[_number(cell) for cell in column] for column in table.values()]).T


def _splits(
    files: dict[str, Path], nodes: dict[str, list[Any]], ids: list[str] | None, rows: int
) -> dict[str, list[int]] | None:
    lists = [split for split in ("train", "val", "test") if split in files]
    if column := _pick(nodes, SPLIT):
        _check(not lists, "splits twice")
        names = [_text(cell).lower() for cell in nodes[column]]
        _check(all(name in SPLITS or name in MISSING for name in names), "the name of a split")
        return {
            split: [node for node, name in enumerate(names) if SPLITS.get(name) == split]
            for split in ("train", "val", "test")
        }
    found: dict[str, list[int]] = {"train": [], "val": [], "test": []}
    for split in lists:
        file = files[split]
        cells = np.load(file, allow_pickle=False) if file.suffix == ".npy" else np.array(_lines(file))
        _check(cells.ndim == 1 and cells.dtype.kind in "iuU", "a split")
        found[split] = sorted(_index(cell, ids) for cell in cells.tolist())
    return found if lists else None


def _lines(file: Path) -> list[str]:
    return [line.strip() for line in file.read_bytes().decode("utf-8-sig").splitlines() if line.strip()]
