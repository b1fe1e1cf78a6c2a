"""Labels of any type ▶ class indices, or a 0/1 matrix."""

from dataclasses import dataclass

import numpy as np

from sign.datasets.custom.arrays import NUMERIC
from sign.datasets.custom.tables import Column, Table
from sign.errors import SignError
from sign.graph.csr import Array
from sign.system import arrays

INTEGER = r"^(0|-?[1-9][0-9]{0,17})(\.0)?$"  # pandas writes 1.0 if some are missing
PREFIX = "label_"  # of the columns of a multilabel graph in the nodes table


@dataclass(frozen=True, eq=False)
class Labels:
    """Class indices, -1 where there is no label, or a 0/1 matrix; and the names of the classes, if they have any."""

    values: Array
    classes: int
    names: tuple[str, ...] = ()

    @classmethod
    def unknown(cls, nodes: int) -> "Labels":
        """The labels of nodes that have none."""
        return cls(np.full(nodes, -1), 0)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def known(self) -> Array:
        """Whether each node has a label."""
        return np.asarray(self.values >= 0 if self.values.ndim == 1 else (self.values >= 0).all(axis=1))


def labels_of_columns(table: Table, names: list[str]) -> Labels:
    """Convert one column of labels to class indices, or several columns to a label matrix."""
    if len(names) == 1:
        return encode_labels(table.column(names[0]))
    matrix = arrays.empty((table.rows, len(names)), np.float32)
    for position, name in enumerate(names):
        matrix[:, position] = table.column(name).numbers()
    prefix = len(PREFIX) if all(name.lower().startswith(PREFIX) for name in names) else 0
    classes = tuple(name[prefix:] for name in names) if table.header else ()
    return Labels(label_matrix(matrix, str(table.file)), len(names), classes)


def labels_of_array(array: Array, where: str) -> Labels:
    """Convert one column of labels to class indices, or several columns to a label matrix."""
    if array.ndim == 2 and array.shape[1] > 1:
        return Labels(label_matrix(array, where), array.shape[1])
    if array.ndim == 0 or array.size != len(array):
        raise SignError(f"{where}: has shape {array.shape}; labels must be a list, or columns of 0 and 1")
    return encode_labels(Column.of(array.reshape(-1), where))


def encode_labels(column: Column) -> Labels:
    """Return the class of each node, -1 if it has no label.

    Classes are the distinct labels, sorted as numbers or as text. A missing label or -1 means that there is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = column.known()
    values = known.values if column.is_text else known.cast("int64", "an integer").cast("string")
    distinct = pc.unique(values.drop_null())
    if pc.all(pc.match_substring_regex(distinct, INTEGER), min_count=0).as_py():
        values = pc.replace_substring_regex(values, r"\.0$", "")
        distinct = pc.unique(values.drop_null()).cast("int64")
    distinct = distinct.filter(pc.invert(pc.equal(distinct.cast("string"), "-1")))
    if not len(distinct):
        raise SignError(f"{column.where}: no node has a label")
    if distinct.type == pa.int64() and pc.min(distinct).as_py() < 0:
        raise SignError(f"{column.where}: label {pc.min(distinct)}: labels must be >= 0, or -1 if unknown")
    classes = distinct.take(pc.sort_indices(distinct)).cast("string")
    indices = pc.index_in(values, value_set=classes).fill_null(-1).cast("int64").to_numpy()
    return Labels(indices, len(classes), tuple(classes.to_pylist()))


def label_matrix(matrix: Array, where: str) -> Array:
    """Check a 0/1 matrix with one column per label; -1 or NaN marks a node without labels."""
    if matrix.dtype.kind not in NUMERIC:
        raise SignError(f"{where}: contains {matrix.dtype}; several labels per node must be columns of 0 and 1")
    labels = np.full(matrix.shape, -1, np.int8)
    labels[matrix == 0] = 0
    labels[matrix == 1] = 1
    invalid = (labels < 0) & (matrix != -1) & (matrix == matrix)
    if invalid.any():
        raise SignError(f"{where}: contains {matrix[invalid][0]}; several labels per node must be columns of 0 and 1")
    return labels
