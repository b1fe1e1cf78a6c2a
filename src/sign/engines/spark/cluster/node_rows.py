"""The rows of a nodes table ▶ ids, splits, labels and features in one form, batch by batch on executors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.labels import label_matrix, labels_of_columns
from sign.datasets.custom.node_ids import id_array
from sign.datasets.custom.parquet.drawn_splits import DrawnSplits
from sign.datasets.custom.parquet.feature_columns import DenseColumns, array_rows, check_indices, is_array, sparse_rows
from sign.datasets.custom.parquet.node_columns import NodeColumns
from sign.datasets.custom.splits import splits_of_column
from sign.datasets.custom.tables import Column, Table
from sign.engines.spark.cluster.tables import table_of
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.graph import SPLITS

NO_SPLIT = -1


@dataclass(frozen=True, eq=False)
class LabelCodes:
    """The classes of a graph: of the distinct ``values`` of one column, whose classes are ``codes``, or of several.

    ``width`` is the number of labels of a multilabel graph, 0 for classes.
    """

    classes: int
    names: tuple[str, ...]
    width: int = 0
    values: Any = None
    codes: Array | None = None

    def of(self, table: Table, columns: NodeColumns) -> Array:
        """Return class indices, -1 where there is no label, or a 0/1 matrix."""
        import pyarrow.compute as pc

        name = columns.labels[0]
        if self.codes is not None:
            positions = pc.index_in(table.column(name).values, value_set=self.values).fill_null(len(self.codes))
            return np.asarray(np.append(self.codes, -1)[positions.to_numpy()])
        if is_array(table.columns[name].type):
            return label_matrix(array_rows(table, name, self.width, columns.id), f"{table.file}, column {name}")
        return labels_of_columns(table, list(columns.labels)).values


@dataclass(frozen=True, eq=False)
class NodeRows:
    """What the columns of a nodes table become; without ``labels`` the graph is only scored."""

    address: str
    columns: NodeColumns
    features: DenseColumns | int
    labels: LabelCodes | None
    drawn: DrawnSplits

    @property
    def width(self) -> int:
        """The number of features."""
        return self.features if isinstance(self.features, int) else len(self.features.names)

    def schema(self, header: Table) -> str:
        """Return the schema of the rows; binary features are float32."""
        text = Column.of(header.columns[self.columns.id], self.address).is_text
        label = "array<tinyint>" if self.labels is not None and self.labels.width else "int"
        return f"id {'string' if text else 'long'}, split int, label {label}, features binary"

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Convert batch by batch."""
        import pyarrow as pa

        for batch in batches:
            table = table_of(batch, self.address)
            ids = table.column(self.columns.id)
            if ids.values.null_count:
                raise SignError(f"{ids.where}: a node has no id; ids must be complete")
            labels, known = self._labels(table)
            split = self._splits(table, ids, known)
            label = self._list_array(labels) if labels.ndim == 2 else pa.array(labels, pa.int32())
            features = binary_rows(self._features(table))
            arrays = [ids.values.combine_chunks(), pa.array(split, pa.int32()), label, features]
            yield pa.RecordBatch.from_arrays(arrays, names=["id", "split", "label", "features"])

    def _labels(self, table: Table) -> tuple[Array, Array]:
        """Return the labels, and whether each node has one."""
        if self.labels is None:
            return np.full(table.rows, -1), np.zeros(table.rows, np.bool_)
        labels = self.labels.of(table, self.columns)
        return labels, np.asarray(labels >= 0 if labels.ndim == 1 else (labels >= 0).all(axis=1))

    def _splits(self, table: Table, ids: Column, known: Array) -> Array:
        """Return the split of each node by its number, -1 for none; a node in a split has a label."""
        if self.labels is None:
            return np.full(table.rows, NO_SPLIT)
        if self.columns.split is None:
            return np.where(known, self.drawn.of(id_array(ids.values)), NO_SPLIT)
        split = np.full(table.rows, NO_SPLIT)
        for number, nodes in enumerate(splits_of_column(table.column(self.columns.split)).values()):
            split[nodes] = number
        if len(unknown := np.flatnonzero((split >= 0) & ~known)):
            node, name = ids.values[int(unknown[0])].as_py(), SPLITS[split[unknown[0]]]
            raise SignError(f"dataset.nodes={self.address}: node `{node}` is in the {name} split, but has no label")
        return split

    def _features(self, table: Table) -> Floats:
        if isinstance(self.features, int):
            name = self.columns.sparse or ""
            lengths, columns, values = sparse_rows(table, name, self.columns.id)
            check_indices(columns, self.features, f"{table.file}, column {name}")
            rows = np.zeros((table.rows, self.features), np.float32)
            rows[np.repeat(np.arange(table.rows), lengths), columns] = values
            names: tuple[str, ...] = ()
        else:
            rows, names = self.features.rows(table, self.columns.id), self.features.names
        if len(wrong := np.argwhere(~np.isfinite(rows))):
            row, column = map(int, wrong[0])
            node, feature = table.columns[self.columns.id][row].as_py(), names[column] if names else column
            raise SignError(
                f"{self.address}: feature `{feature}` of node `{node}` is {rows[row, column]}; "
                "replace missing and infinite values first"
            )
        return rows

    def _list_array(self, labels: Array) -> Any:
        import pyarrow as pa

        offsets = pa.array(np.arange(len(labels) + 1) * labels.shape[1], pa.int32())
        return pa.ListArray.from_arrays(offsets, pa.array(labels.reshape(-1), pa.int8()))


def binary_rows(rows: Floats) -> Any:
    """Return rows of float32 as an Arrow array of their bytes."""
    import pyarrow as pa

    content = np.ascontiguousarray(rows, np.float32)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(4 * rows.shape[1])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(rows), buffers)


def rows_of(column: Any, width: int) -> Floats:
    """Return the rows that :func:`binary_rows` stored."""
    _, offsets, content = column.buffers()
    own = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(content, np.uint8)[own[0] : own[-1]].view(np.float32).reshape(-1, width)
