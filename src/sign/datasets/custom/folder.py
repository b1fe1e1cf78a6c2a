"""A folder of files with conventional names ▶ the parts of a graph."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sign.datasets.custom.arrays import check_rows, dense_features, find_file, read_array
from sign.datasets.custom.edge_columns import NO_COLUMNS, EdgeColumns
from sign.datasets.custom.edges import EDGES, Edges, read_edges
from sign.datasets.custom.feature_columns import ColumnSettings
from sign.datasets.custom.groups import read_groups
from sign.datasets.custom.labels import PREFIX, Labels, labels_of_array, labels_of_columns
from sign.datasets.custom.node_ids import ID, NodeIds
from sign.datasets.custom.sparse_arrays import sparse_features, sparse_shape
from sign.datasets.custom.splits import LISTS, splits_of_column, splits_of_lists
from sign.datasets.custom.tables import MISSING, TABLES, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.features import Features
from sign.graph.graph import SPLITS, quoted_name

ENDINGS = {
    "edges": EDGES,
    "nodes": TABLES,
    "features": (".npy", ".npz", ".parquet"),
    "labels": (".npy", *TABLES),
    **dict.fromkeys(SPLITS, LISTS),
}
LABEL = ("label", "labels", "class", "y")
SPLIT = ("split",)
FLAGS = {"", "0", "1", "-1", "0.0", "1.0", "-1.0", *MISSING}  # cells of multilabel columns
Splits: TypeAlias = dict[str, Array]
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class GraphParts:
    """Edges as node indices, features, if there are any, labels, splits, names of features and nodes, and groups."""

    edges: Edges
    features: Features | None
    labels: Labels
    splits: Splits
    feature_names: tuple[str, ...] = ()
    node_ids: Array | None = None
    groups: Array | None = None


def check_split_labels(parts: GraphParts, where: str) -> None:
    """Raise :class:`SignError` for a node in a split that has no label."""
    for split, nodes in parts.splits.items():
        unknown = nodes[~parts.labels.known[nodes]]
        if len(unknown):
            node = quoted_name(parts.node_ids, unknown[0])
            raise SignError(f"{where}: node {node} is in the {split} split, but has no label")


def read_folder(
    folder: Path,
    settings: Mapping[str, str | None],
    columns: ColumnSettings,
    draw: Callable[[Labels], Splits],
    labelled: bool = True,
    edge_columns: EdgeColumns = NO_COLUMNS,
    group: str | None = None,
) -> GraphParts:
    """Read the files of a folder.

    ``settings`` overrides their conventional names, ``columns`` and ``edge_columns`` select columns of the tables of
    nodes and edges, ``group`` names the column or array of groups, and ``draw`` draws splits if no file has them.
    Unless the graph has to be ``labelled``, labels may be missing.
    """
    files = find_files(folder, settings)
    edges = files["edges"]
    if edges is None:
        raise _missing_files(folder, "edges")
    nodes = None if files["nodes"] is None else read_table(files["nodes"])
    groups = read_groups(folder, nodes, group)
    if nodes is not None and group in nodes.columns:
        columns = replace(columns, ignore=[*columns.ignore, group])  # a group is no feature
    nodes, table = _node_tables(files, nodes, columns)
    ids = None if nodes is None else NodeIds.of(nodes)
    labels = _labels(folder, files, nodes, ids, labelled)
    ids = ids or NodeIds(len(labels))
    splits = _splits(files, nodes, ids) or draw(labels)
    features, names = _features(files["features"], table, ids, columns, splits["train"])
    return GraphParts(read_edges(edges, ids, edge_columns), features, labels, splits, names, ids.array(), groups)


def find_files(folder: Path, settings: Mapping[str, str | None]) -> dict[str, Path | None]:
    """Return the file of each part of the graph, or None if the folder has none."""
    return {name: find_file(folder, name, settings[name], endings) for name, endings in ENDINGS.items()}


def _node_tables(
    files: Mapping[str, Path | None], nodes: Table | None, columns: ColumnSettings
) -> tuple[Table | None, Table | None]:
    """Return the nodes table, and the table that contains the features, if any, without columns that are left out."""
    table, file = nodes, files["features"]
    if file is not None:
        table = read_table(file) if file.suffix == ".parquet" else None
    columns.check(nodes, table)
    nodes_left, table_left = (None if part is None else part.without(columns.ignore) for part in (nodes, table))
    if nodes_left is not None and file is not None and (unused := other_columns(nodes_left)):
        log.info("%s: not used: %s; the features are in %s", nodes_left.file, ", ".join(unused), file.name)
    return nodes_left, table_left


def _labels(
    folder: Path, files: Mapping[str, Path | None], nodes: Table | None, ids: NodeIds | None, labelled: bool
) -> Labels:
    """Read labels from the labels file or the nodes table."""
    file, columns = files["labels"], [] if nodes is None else label_columns(nodes)
    if file is None:
        if not labelled and not columns and (count := _count_nodes(files["features"], ids)) is not None:
            return Labels.unknown(count)
        if nodes is None or not columns:
            raise _missing_files(folder, "labels", "a column label in the nodes table")
        return labels_of_columns(nodes, columns)
    if nodes is not None and columns:
        raise SignError(f"{file}: the column {columns[0]} of {nodes.file} also contains labels; remove one of them")
    if file.suffix == ".npy":
        labels = labels_of_array(read_array(file), str(file))
    else:
        table = read_table(file, _is_label_header, lambda cells: cells <= FLAGS or bool(cells & {*ID, *LABEL}))
        table = (ids or NodeIds(table.rows)).sort_rows(table)
        labels = labels_of_columns(table, list(table.columns))
    if ids is not None:
        check_rows(len(labels), ids.nodes, file)
    return labels


def _count_nodes(features: Path | None, ids: NodeIds | None) -> int | None:
    """The number of nodes without labels to count: that of the nodes table, or the rows of the features."""
    if ids is not None:
        return ids.nodes
    if features is None or features.suffix == ".parquet":
        return None if features is None else read_table(features).rows
    return len(read_array(features)) if features.suffix == ".npy" else sparse_shape(features)[0]


def _is_label_header(cells: set[str]) -> bool:
    """Return whether the first line of a labels file is a header: multilabel cells are numbers."""
    return bool(cells & {*ID, *LABEL}) or (len(cells) > 1 and not cells <= FLAGS)


def label_columns(nodes: Table) -> list[str]:
    """Return the label column of the nodes table, or its columns ``label_…`` of a multilabel graph."""
    multiple = [name for name in nodes.columns if name.lower().startswith(PREFIX)]
    single = nodes.pick(LABEL)
    if single is not None and multiple:
        raise SignError(f"{nodes.file}: the columns {single} and {multiple[0]} both contain labels; keep one")
    return multiple if single is None else [single]


def _features(
    file: Path | None, table: Table | None, ids: NodeIds, columns: ColumnSettings, train: Array
) -> tuple[Features | None, tuple[str, ...]]:
    """Read the features file, or all columns of the nodes table that have no other meaning; there may be none."""
    if table is not None and file is not None:
        table = ids.sort_rows(table)
        check_rows(table.rows, ids.nodes, file)
    names = [] if table is None else list(table.columns) if file is not None else other_columns(table)
    columns.check_encoded(names)
    if table is not None:
        return columns.encode(table, names, train) if names else (None, ())
    if file is None:
        return None, ()
    if file.suffix == ".npz":
        return sparse_features(file, ids.nodes), ()
    array = read_array(file)
    check_rows(len(array) if array.ndim else 0, ids.nodes, file)
    return dense_features(array, file), ()


def other_columns(nodes: Table) -> list[str]:
    """Return the columns of the nodes table that are features, unless there is a file of features."""
    meaning = {*label_columns(nodes), nodes.pick(ID), nodes.pick(SPLIT)}
    return [name for name in nodes.columns if name not in meaning]


def _splits(files: Mapping[str, Path | None], nodes: Table | None, ids: NodeIds) -> Splits | None:
    """Read the nodes of each split from a column or from files, if there are any."""
    lists = {split: file for split in SPLITS if (file := files[split]) is not None}
    column = None if nodes is None else nodes.pick(SPLIT)
    if nodes is None or column is None:
        return splits_of_lists(lists, ids) if lists else None
    for file in lists.values():
        raise SignError(f"{file}: the column {column} of {nodes.file} also contains splits; remove one of them")
    return splits_of_column(nodes.column(column))


def file_names(part: str) -> str:
    """Return the conventional names of the file of a part of the graph."""
    return ", ".join(f"{part}{ending}" for ending in ENDINGS[part])


def _missing_files(folder: Path, name: str, alternative: str | None = None) -> SignError:
    also = f" and {alternative}" if alternative else ""
    return SignError(f"{folder}: there are no {name}; looked for {file_names(name)}{also}")
