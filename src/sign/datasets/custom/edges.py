"""Edges, from a table with or without a header or from an array."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.node_ids import Identity
from sign.datasets.custom.tables import TABLES, Column, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array, Floats

EDGES = (*TABLES, ".npy")
PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
WEIGHT = ("weight",)


def read_edges(file: Path, identity: Identity) -> tuple[Array, Array, Floats | None]:
    """The numbers of both ends of each edge, and its weight if it has one."""
    if file.suffix == ".npy":
        source, target = (
            identity.numbers(Column.of(ends, str(file))) for ends in _ends(read_array(file), file)
        )
        return source, target, None
    table = read_table(file, is_header=lambda cells: any(name in cells for pair in PAIRS for name in pair))
    first, second, weight = _columns(table, identity)
    source, target = (identity.numbers(table.column(name)) for name in (first, second))
    return source, target, None if weight is None else _weights(table.column(weight))


def _ends(array: Array, file: Path) -> Array:
    """The rows of a 2 × m array."""
    if array.ndim != 2 or 2 not in array.shape or array.dtype.kind not in "iuU":
        raise SignError(
            f"{file}: {array.dtype} of shape {array.shape}; edges are whole numbers, 2 × m or m × 2"
        )
    if array.shape == (2, 2):
        raise SignError(
            f"{file}: an array of 2 × 2 can be read in two ways; write these two edges as edges.csv"
        )
    return array if array.shape[0] == 2 else array.T


def _columns(table: Table, identity: Identity) -> tuple[str, str, str | None]:
    """The names of the columns that hold sources, targets and weights."""
    names = list(table.columns)
    if not table.header:
        if len(names) not in (2, 3):
            raise SignError(f"{table.file}: {_header()}, or write two columns, or three with weights")
        return names[0], names[1], names[2] if len(names) == 3 else None
    for pair in PAIRS:
        first, second = (table.pick((name,)) for name in pair)
        if first is not None and second is not None:
            break
    else:
        raise SignError(f"{table.file}: has columns {', '.join(names)}; {_header()}")
    if table.file.suffix != ".parquet" and identity.has(first) and identity.has(second):
        raise SignError(
            f"{table.file}: its first line can be a header or an edge, for nodes are called {first} and {second}; "
            "use other names for the columns"
        )
    return first, second, table.pick(WEIGHT)


def _header() -> str:
    return f"name the ends of edges {' or '.join('/'.join(pair) for pair in PAIRS)}"


def _weights(column: Column) -> Floats:
    """Weights; the graph's matrix refuses what is not positive, and NaN with it."""
    with np.errstate(over="ignore"):
        return column.numbers().astype(np.float32)
