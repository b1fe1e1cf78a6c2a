"""A folder of files with conventional names ▶ the parts of a graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sign.datasets.custom.arrays import check_rows, dense_features, find_file, read_array, sparse_features
from sign.datasets.custom.edges import EDGES, read_edges
from sign.datasets.custom.labels import encode_labels, label_matrix
from sign.datasets.custom.node_ids import ID, NodeIds
from sign.datasets.custom.splits import LISTS, splits_of_column, splits_of_lists
from sign.datasets.custom.tables import TABLES, Column, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.features import Features
from sign.graph.graph import SPLITS

ENDINGS = {
    "edges": EDGES,
    "nodes": TABLES,
    "features": (".npy", ".npz", ".parquet"),
    "labels": (".npy", *TABLES),
    **dict.fromkeys(SPLITS, LISTS),
}
LABEL, LABEL_PREFIX = ("label", "labels", "class", "y"), "label_"
SPLIT = ("split",)
FLAGS = {"", "0", "1", "-1", "0.0", "1.0", "-1.0"}  # cells of multilabel columns


@dataclass(frozen=True, eq=False)
class GraphParts:
    """Edges as node indices, features, labels and, unless they are drawn later, splits."""

    source: Array
    target: Array
    weights: Floats | None
    features: Features
    labels: Array
    classes: int
    splits: dict[str, Array] | None


def read_folder(folder: Path, settings: Mapping[str, str | None]) -> GraphParts:
    """Read the files of a folder; ``settings`` overrides their conventional names."""
    files = find_files(folder, settings)
    edges = files["edges"]
    if edges is None:
        raise _missing_files(folder, "edges")
    table = None if files["nodes"] is None else read_table(files["nodes"])
    ids = None if table is None else NodeIds.of(table)
    labels, classes = _labels(folder, files["labels"], table, ids)
    ids = ids or NodeIds(len(labels))
    features = _features(folder, files["features"], table, ids)
    splits = _splits(files, table, ids)
    source, target, weights = read_edges(edges, ids)
    return GraphParts(source, target, weights, features, labels, classes, splits)


def find_files(folder: Path, settings: Mapping[str, str | None]) -> dict[str, Path | None]:
    """Return the file of each part of the graph, or None if the folder has none."""
    return {name: find_file(folder, name, settings[name], endings) for name, endings in ENDINGS.items()}


def _labels(folder: Path, file: Path | None, nodes: Table | None, ids: NodeIds | None) -> tuple[Array, int]:
    """Read class indices or a label matrix, and the number of classes, from the labels file or the nodes table."""
    columns = [] if nodes is None else _label_columns(nodes)
    if file is None:
        if nodes is None or not columns:
            raise _missing_files(folder, "labels", "a column label in the nodes table")
        return _from_columns(nodes, columns)
    if nodes is not None and columns:
        raise SignError(f"{file}: the column {columns[0]} of {nodes.file} also contains labels; remove one of them")
    if file.suffix == ".npy":
        labels, classes = labels_of(read_array(file), str(file))
    else:
        table = read_table(file, _is_label_header)
        table = (ids or NodeIds(table.rows)).sort_rows(table)
        labels, classes = _from_columns(table, list(table.columns))
    if ids is not None:
        check_rows(len(labels), ids.nodes, file)
    return labels, classes


def _is_label_header(cells: set[str]) -> bool:
    """Return whether the first line of a labels file is a header: multilabel cells are numbers."""
    return bool(cells & {*ID, *LABEL}) or (len(cells) > 1 and not cells <= FLAGS)


def _label_columns(nodes: Table) -> list[str]:
    """Return the label column of the nodes table, or its columns ``label_…`` of a multilabel graph."""
    multiple = [name for name in nodes.columns if name.lower().startswith(LABEL_PREFIX)]
    single = nodes.pick(LABEL)
    if single is not None and multiple:
        raise SignError(f"{nodes.file}: the columns {single} and {multiple[0]} both contain labels; keep one")
    return multiple if single is None else [single]


def _from_columns(table: Table, names: list[str]) -> tuple[Array, int]:
    if len(names) == 1:
        return encode_labels(table.column(names[0]))
    return label_matrix(table.matrix(names), str(table.file)), len(names)


def labels_of(array: Array, where: str) -> tuple[Array, int]:
    """Convert one column of labels to class indices, or several columns to a label matrix."""
    if array.ndim == 2 and array.shape[1] > 1:
        return label_matrix(array, where), array.shape[1]
    if array.ndim == 0 or array.size != len(array):
        raise SignError(f"{where}: has shape {array.shape}; labels must be a list, or columns of 0 and 1")
    return encode_labels(Column.of(array.reshape(-1), where))


def _features(folder: Path, file: Path | None, nodes: Table | None, ids: NodeIds) -> Features:
    """Read the features file, or all columns of the nodes table that have no other meaning."""
    if file is not None and file.suffix == ".npz":
        return sparse_features(file, ids.nodes)
    if file is not None and file.suffix == ".npy":
        array = read_array(file)
        check_rows(len(array) if array.ndim else 0, ids.nodes, file)
        return dense_features(array, file)
    if file is not None:
        table = ids.sort_rows(read_table(file))
        check_rows(table.rows, ids.nodes, file)
        return dense_features(table.matrix(list(table.columns)), file)
    if nodes is not None:
        other = {*_label_columns(nodes), nodes.pick(ID), nodes.pick(SPLIT)}
        if columns := [name for name in nodes.columns if name not in other]:
            return dense_features(nodes.matrix(columns), nodes.file)
    raise _missing_files(folder, "features", "columns of numbers in the nodes table")


def _splits(files: Mapping[str, Path | None], nodes: Table | None, ids: NodeIds) -> dict[str, Array] | None:
    """Read the nodes of each split from a column or from files, if there are any."""
    lists = {split: file for split in SPLITS if (file := files[split]) is not None}
    column = None if nodes is None else nodes.pick(SPLIT)
    if nodes is None or column is None:
        return splits_of_lists(lists, ids) if lists else None
    for file in lists.values():
        raise SignError(f"{file}: the column {column} of {nodes.file} also contains splits; remove one of them")
    return splits_of_column(nodes.column(column))


def _missing_files(folder: Path, name: str, alternative: str | None = None) -> SignError:
    names = ", ".join(f"{name}{ending}" for ending in ENDINGS[name])
    also = f" and {alternative}" if alternative else ""
    return SignError(f"{folder}: there are no {name}; looked for {names}{also}")
