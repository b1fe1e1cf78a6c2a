"""Edges from a table, with or without a header, or from an array."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.tables import TABLES, Column, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array, Floats

EDGES = (*TABLES, ".npy")
PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
WEIGHT = ("weight",)
HEADER_RULE = f"name the columns of sources and targets {' or '.join('/'.join(pair) for pair in PAIRS)}"


def read_edges(file: Path, ids: NodeIds) -> tuple[Array, Array, Floats | None]:
    """Read source and target of each edge as node indices, and the weights, if any."""
    if file.suffix == ".npy":
        source, target = (ids.indices(Column.of(ends, str(file))) for ends in _ends(read_array(file), file))
        return source, target, None
    table = read_table(file, is_header=lambda cells: any(name in cells for pair in PAIRS for name in pair))
    first, second, weight = _columns(table, ids)
    source, target = (ids.indices(table.column(name)) for name in (first, second))
    if weight is None:
        return source, target, None
    with np.errstate(over="ignore"):  # infinite weights are refused by CSR.from_edges
        return source, target, table.column(weight).numbers().astype(np.float32)


def _ends(array: Array, file: Path) -> Array:
    """Return source and target of a 2 × m or m × 2 array."""
    if array.ndim != 2 or 2 not in array.shape or array.dtype.kind not in "iuU":
        raise SignError(
            f"{file}: contains {array.dtype} of shape {array.shape}; edges must be integers, 2 × m or m × 2"
        )
    if array.shape == (2, 2):
        raise SignError(f"{file}: the orientation of a 2 × 2 array is ambiguous; write these two edges as edges.csv")
    return array if array.shape[0] == 2 else array.T


def _columns(table: Table, ids: NodeIds) -> tuple[str, str, str | None]:
    """Return the names of the columns of sources, targets and weights."""
    names = list(table.columns)
    if not table.header:
        if len(names) not in (2, 3):
            raise SignError(f"{table.file}: {HEADER_RULE}, or write two columns, or three with weights")
        return names[0], names[1], names[2] if len(names) == 3 else None
    for pair in PAIRS:
        first, second = (table.pick((name,)) for name in pair)
        if first is not None and second is not None:
            break
    else:
        raise SignError(f"{table.file}: has columns {', '.join(names)}; {HEADER_RULE}")
    if table.file.suffix != ".parquet" and ids.contains(first) and ids.contains(second):
        raise SignError(
            f"{table.file}: its first line could be a header or an edge between the nodes {first} and {second}; "
            "rename the columns"
        )
    return first, second, table.pick(WEIGHT)
