"""Parquet tables ▶ the parts of a graph, on this machine: batch by batch, nodes in the order of their ids."""

from typing import cast

import numpy as np

from sign.datasets.custom.edges import Edges, named_columns
from sign.datasets.custom.folder import GraphParts
from sign.datasets.custom.labels import Labels, encode_labels, label_matrix, labels_of_columns
from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.parquet.drawn_splits import DrawnSplits
from sign.datasets.custom.parquet.feature_columns import (
    DenseColumns,
    array_rows,
    check_indices,
    is_array,
    sparse_rows,
    sparse_size,
)
from sign.datasets.custom.parquet.files import ParquetFiles
from sign.datasets.custom.parquet.node_columns import NodeColumns
from sign.datasets.custom.splits import splits_of_column
from sign.datasets.custom.tables import Table
from sign.errors import SignError
from sign.graph.csr import Array, index_type
from sign.graph.features import Features, SparseFeatures
from sign.graph.graph import SPLITS
from sign.system import arrays

EDGE_ROWS = 1 << 20  # that are looked up at a time, or as many as there are nodes


def read_parts(
    edges: ParquetFiles, nodes: ParquetFiles, columns: NodeColumns, drawn: DrawnSplits, feature_size: int | None
) -> GraphParts:
    """Read the tables of edges and nodes.

    Nodes are numbered in the order of their ids, so that neither files nor their order changes the graph.
    """
    ids, order = _sorted_ids(nodes, columns)
    labels = _labels(nodes, columns, order)
    if columns.split is None:
        splits = _draw(drawn, ids, labels)
    else:
        splits = splits_of_column(_in_order(nodes.read([columns.split]), order).column(columns.split))
    names: tuple[str, ...] = ()
    if columns.sparse is not None:
        features = _sparse_features(nodes, columns.sparse, columns.id, order, feature_size)
    else:
        features, names = _dense_features(nodes, columns, order)
    return GraphParts(_edges(edges, ids), features, labels, splits, names, ids.array())


def _sorted_ids(nodes: ParquetFiles, columns: NodeColumns) -> tuple[NodeIds, Array]:
    """Return the sorted ids, and the row of each in the table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not nodes.rows:
        raise SignError(f"{nodes.address}: has no rows; write one per node")
    listed = NodeIds.of(nodes.read([columns.id]))
    order = pc.sort_indices(listed.ids)
    ids = pa.chunked_array([listed.ids.take(order).combine_chunks()])
    return NodeIds(listed.nodes, ids), order.to_numpy()


def _in_order(table: Table, order: Array) -> Table:
    return Table(table.file, {name: column.take(order) for name, column in table.columns.items()}, table.rows)


def _labels(nodes: ParquetFiles, columns: NodeColumns, order: Array) -> Labels:
    """Read the labels; none if the table has no such column."""
    if not columns.labels:
        return Labels.unknown(nodes.rows)
    name = columns.labels[0]
    if len(columns.labels) > 1:
        return labels_of_columns(_in_order(nodes.read(columns.labels), order), list(columns.labels))
    if not is_array(nodes.header.columns[name].type):
        return encode_labels(_in_order(nodes.read([name]), order).column(name))
    table = _in_order(nodes.read([columns.id, name]), order)
    width = DenseColumns.of(Table(table.file, {name: table.columns[name]}, table.rows)).widths[name]
    return Labels(label_matrix(array_rows(table, name, width, columns.id), f"{table.file}, column {name}"), width)


def _draw(drawn: DrawnSplits, ids: NodeIds, labels: Labels) -> dict[str, Array]:
    assigned = np.where(labels.known, drawn.of(cast(Array, ids.array())), -1)
    return {split: np.flatnonzero(assigned == number) for number, split in enumerate(SPLITS)}


def _dense_features(nodes: ParquetFiles, columns: NodeColumns, order: Array) -> tuple[Features, tuple[str, ...]]:
    """Read columns of numbers and arrays, each batch to the rows of its nodes."""
    names = [columns.id, *columns.dense]
    sample = next(nodes.tables(columns.dense, 1))
    dense = DenseColumns.of(sample)
    features = arrays.empty((nodes.rows, len(dense.names)), np.float32)
    numbers = np.empty(nodes.rows, index_type(nodes.rows))
    numbers[order] = np.arange(nodes.rows)
    position = 0
    for table in nodes.tables(names, max(1, arrays.CHUNK_BYTES // (8 * len(dense.names)))):
        rows = numbers[position : position + table.rows]
        features[rows] = dense.rows(table, columns.id)
        arrays.release(features)
        position += table.rows
    return features, dense.names


def _sparse_features(nodes: ParquetFiles, name: str, id_column: str, order: Array, size: int | None) -> Features:
    """Read a sparse column, which stays sparse."""
    import scipy.sparse

    lengths, indices, values, found = [np.zeros(1, np.int64)], [], [], 0
    for table in nodes.tables([id_column, name], EDGE_ROWS):
        entries, columns, stored = sparse_rows(table, name, id_column)
        lengths.append(entries)
        indices.append(columns)
        values.append(stored)
        found = max(found, sparse_size(table, name))
    size = size or found
    check_indices(every := np.concatenate(indices), size, where := f"{nodes.address}, column {name}")
    if not size:
        raise SignError(f"{where}: has no entries; set dataset.feature_size")
    indptr = np.cumsum(np.concatenate(lengths))
    rows = scipy.sparse.csr_array((np.concatenate(values), every, indptr), (nodes.rows, size))[order]
    rows.sort_indices()  # equal features have equal digests
    return SparseFeatures(rows.indptr.astype(np.int64), rows.indices, size, rows.data)


def _edges(edges: ParquetFiles, ids: NodeIds) -> Edges:
    """Read the edges, whose ends become numbers batch by batch.

    A batch has at least as many edges as there are nodes, since looking ids up begins with a hash table of them.
    """
    first, second, weight = named_columns(edges.header)
    source, target = (arrays.empty(edges.rows, index_type(ids.nodes)) for _ in range(2))
    weights = None if weight is None else arrays.empty(edges.rows, np.float32)
    position = 0
    names = [first, second] if weight is None else [first, second, weight]
    for table in edges.tables(names, max(EDGE_ROWS, ids.nodes)):
        part = slice(position, position + table.rows)
        source[part], target[part] = (ids.indices(table.column(name)) for name in (first, second))
        if weights is not None and weight is not None:
            with np.errstate(over="ignore"):  # infinite weights are refused by build_adjacency
                weights[part] = table.column(weight).numbers()
        arrays.release(source[part], target[part], None if weights is None else weights[part])
        position += table.rows
    return Edges(source, target, weights, edges.address)
