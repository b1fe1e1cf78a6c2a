"""Labels of any type ▶ class indices, or a 0/1 matrix."""

import numpy as np

from sign.datasets.custom.arrays import NUMERIC
from sign.datasets.custom.tables import Column
from sign.errors import SignError
from sign.graph.csr import Array

INTEGER = r"^(0|-?[1-9][0-9]{0,17})(\.0)?$"  # pandas writes 1.0 if some are missing


def encode_labels(column: Column) -> tuple[Array, int]:
    """Return the class of each node, -1 if it has no label, and the number of classes.

    Classes are the distinct labels, sorted as numbers or as text. An empty label or -1 means that there is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.values if column.is_text else column.cast("int64", "an integer").cast("string")
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
    return pc.index_in(values, value_set=classes).fill_null(-1).cast("int64").to_numpy(), len(classes)


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
