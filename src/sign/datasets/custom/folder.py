"""A folder of files with conventional names ▶ the parts of a graph."""

from collections.abc import Mapping
from pathlib import Path

from sign.datasets.custom.arrays import check_rows, dense_features, find, read_array, sparse_features
from sign.datasets.custom.edges import EDGES, read_edges
from sign.datasets.custom.labels import class_numbers, label_matrix
from sign.datasets.custom.node_ids import ID, Identity
from sign.datasets.custom.parts import Parts
from sign.datasets.custom.splits import LISTS, by_lists, by_words
from sign.datasets.custom.tables import TABLES, Column, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array
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
FLAGS = {"", "0", "1", "-1", "0.0", "1.0", "-1.0"}  # cells of several labels a node


def read_folder(folder: Path, given: Mapping[str, str | None]) -> Parts:
    """Read what is there; ``given`` names files that are called otherwise, relative to the folder."""
    files = find_files(folder, given)
    edges = files["edges"]
    if edges is None:
        raise _nothing(folder, "edges")
    table = None if files["nodes"] is None else read_table(files["nodes"])
    identity = None if table is None else Identity.of(table)
    labels, classes = _labels(folder, files["labels"], table, identity)
    identity = identity or Identity(len(labels))
    features = _features(folder, files["features"], table, identity)
    splits = _splits(files, table, identity)
    source, target, weights = read_edges(edges, identity)
    return Parts(source, target, weights, features, labels, classes, splits)


def find_files(folder: Path, given: Mapping[str, str | None]) -> dict[str, Path | None]:
    """The file of each part of the graph, or None where the folder has none."""
    return {name: find(folder, name, given[name], endings) for name, endings in ENDINGS.items()}


def _labels(
    folder: Path, file: Path | None, nodes: Table | None, identity: Identity | None
) -> tuple[Array, int]:
    """Class numbers or a matrix, and the number of classes, from the file of labels or the table of nodes."""
    columns = [] if nodes is None else _label_columns(nodes)
    if file is None:
        if nodes is None or not columns:
            raise _nothing(folder, "labels", "a column label in the nodes table")
        return _from_columns(nodes, columns)
    if nodes is not None and columns:
        raise SignError(
            f"{file}: the column {columns[0]} of {nodes.file} holds labels, too; remove one of them"
        )
    if file.suffix == ".npy":
        labels, classes = labels_of(read_array(file), str(file))
    else:
        table = read_table(file, _is_label_header)
        table = (identity or Identity(table.rows)).in_order(table)
        labels, classes = _from_columns(table, list(table.columns))
    if identity is not None:
        check_rows(len(labels), identity.nodes, file)
    return labels, classes


def _is_label_header(cells: set[str]) -> bool:
    """Whether the first line of a file of labels names columns: in a file of several, all else are numbers."""
    return bool(cells & {*ID, *LABEL}) or (len(cells) > 1 and not cells <= FLAGS)


def _label_columns(nodes: Table) -> list[str]:
    """The column of labels of a table of nodes, or its columns label_…, one for each of several labels."""
    several = [name for name in nodes.columns if name.lower().startswith(LABEL_PREFIX)]
    one = nodes.pick(LABEL)
    if one is not None and several:
        raise SignError(f"{nodes.file}: the columns {one} and {several[0]} both hold labels; keep one")
    return several if one is None else [one]


def _from_columns(table: Table, names: list[str]) -> tuple[Array, int]:
    if len(names) == 1:
        return class_numbers(table.column(names[0]))
    return label_matrix(table.matrix(names), str(table.file)), len(names)


def labels_of(array: Array, where: str) -> tuple[Array, int]:
    """Class numbers of a list of labels, or of a single column; several columns are a matrix."""
    if array.ndim == 2 and array.shape[1] > 1:
        return label_matrix(array, where), array.shape[1]
    if array.ndim == 0 or array.size != len(array):
        raise SignError(f"{where}: has shape {array.shape}; labels are a list, or columns of 0 and 1")
    return class_numbers(Column.of(array.reshape(-1), where))


def _features(folder: Path, file: Path | None, nodes: Table | None, identity: Identity) -> Features:
    """The file of features, or else all columns of the table of nodes that mean nothing else."""
    if file is not None and file.suffix == ".npz":
        return sparse_features(file, identity.nodes)
    if file is not None and file.suffix == ".npy":
        array = read_array(file)
        check_rows(len(array) if array.ndim else 0, identity.nodes, file)
        return dense_features(array, file)
    if file is not None:
        table = identity.in_order(read_table(file))
        check_rows(table.rows, identity.nodes, file)
        return dense_features(table.matrix(list(table.columns)), file)
    if nodes is not None:
        other = {*_label_columns(nodes), nodes.pick(ID), nodes.pick(SPLIT)}
        if columns := [name for name in nodes.columns if name not in other]:
            return dense_features(nodes.matrix(columns), nodes.file)
    raise _nothing(folder, "features", "columns of numbers in the nodes table")


def _splits(
    files: Mapping[str, Path | None], nodes: Table | None, identity: Identity
) -> dict[str, Array] | None:
    """The nodes of each split, if there is a column or a file that says so."""
    lists = {split: file for split in SPLITS if (file := files[split]) is not None}
    column = None if nodes is None else nodes.pick(SPLIT)
    if nodes is None or column is None:
        return by_lists(lists, identity) if lists else None
    for file in lists.values():
        raise SignError(f"{file}: the column {column} of {nodes.file} holds splits, too; remove one of them")
    return by_words(nodes.column(column))


def _nothing(folder: Path, name: str, otherwise: str | None = None) -> SignError:
    looked = ", ".join(f"{name}{ending}" for ending in ENDINGS[name])
    also = f" and {otherwise}" if otherwise else ""
    return SignError(f"{folder}: there are no {name}; looked for {looked}{also}")
