"""Labels of any kind ▶ class numbers, or a 0/1 matrix."""

import numpy as np

from sign.datasets.custom.arrays import NUMBERS
from sign.datasets.custom.tables import Column
from sign.errors import SignError
from sign.graph.csr import Array

WHOLE = r"^(0|-?[1-9][0-9]{0,17})(\.0)?$"  # as pandas writes whole numbers, where some are missing, too


def class_numbers(column: Column) -> tuple[Array, int]:
    """The class of each node, -1 where it has none, and how many classes there are.

    Classes are the different labels in order: of numbers by size, of text by the alphabet. A label that is empty
    or -1 stands for none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.values if column.is_text else column.cast("int64", "a whole number").cast("string")
    different = pc.unique(values.drop_null())
    if pc.all(pc.match_substring_regex(different, WHOLE), min_count=0).as_py():
        values = pc.replace_substring_regex(values, r"\.0$", "")
        different = pc.unique(values.drop_null()).cast("int64")
    different = different.filter(pc.invert(pc.equal(different.cast("string"), "-1")))
    if not len(different):
        raise SignError(f"{column.where}: no node has a label")
    if different.type == pa.int64() and pc.min(different).as_py() < 0:
        raise SignError(
            f"{column.where}: label {pc.min(different)}; labels are >= 0, and -1 stands for an unknown one"
        )
    classes = different.take(pc.sort_indices(different)).cast("string")
    numbers: Array = pc.index_in(values, value_set=classes).fill_null(-1).cast("int64").to_numpy()
    return numbers, len(classes)


def label_matrix(matrix: Array, where: str) -> Array:
    """A 0/1 matrix with a column a label; a row with -1 or nothing in it belongs to a node without labels."""
    if matrix.dtype.kind not in NUMBERS:
        raise SignError(f"{where}: holds {matrix.dtype}; several labels a node are columns of 0 and 1")
    labels = np.full(matrix.shape, -1, np.int8)
    labels[matrix == 0] = 0
    labels[matrix == 1] = 1
    wrong = (labels < 0) & (matrix != -1) & (matrix == matrix)
    if wrong.any():
        raise SignError(f"{where}: has {matrix[wrong][0]}; several labels a node are columns of 0 and 1")
    return labels
