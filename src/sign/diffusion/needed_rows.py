"""The rows of each power that have to be computed, and those that are copied from an earlier version of the graph."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from sign.diffusion.changes import Mask
from sign.engines.base import NodeRows
from sign.graph.csr import Array
from sign.graph.matrix import Matrix
from sign.operators.base import Operator


def needed_rows(
    operator: Operator,
    matrix: Matrix,
    used: NodeRows,
    wanted: Collection[int],
    start: int,
    unchanged: Mapping[int, Mask] = MappingProxyType({}),
) -> tuple[dict[int, NodeRows], dict[int, Array]]:
    """Return, for each power after ``start`` in ascending order, the rows to compute, and those to copy.

    A power needs the rows that belong to the result, and those that the computed rows of the next power read. Of
    them, the ``unchanged`` ones are copied.
    """
    rows = used if operator.is_one_product else None
    computed: dict[int, NodeRows] = {}
    copied: dict[int, Array] = {}
    for power in range(max(wanted), start, -1):
        if power in unchanged:
            same = unchanged[power] if rows is None else unchanged[power][rows]
            copied[power], rows = (np.flatnonzero(part) if rows is None else rows[part] for part in (same, ~same))
        computed[power] = rows
        if rows is None or (used is None and power - 1 in wanted):
            rows = None
            continue
        read = matrix.csr.column_mask(rows)
        for others in (rows if matrix.self_loop else None, used if power - 1 in wanted else None):
            if others is not None:
                read[others] = True
        rows = None if read.all() else np.flatnonzero(read)
    return dict(reversed(computed.items())), dict(reversed(copied.items()))
