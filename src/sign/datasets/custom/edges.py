"""Edges from a table, with or without a header, or from an array."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.edge_columns import NO_COLUMNS, EdgeColumns
from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.tables import TABLES, Column, Table, read_table
from sign.errors import SignError
from sign.graph.csr import Array, Floats

EDGES = (*TABLES, ".npy")
PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
WEIGHT = ("weight", "weights", "w")
HEADER_RULE = f"name the columns of sources and targets {' or '.join('/'.join(pair) for pair in PAIRS)}"
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Edges:
    """Source and target of each edge as node indices, and the file that lists them.

    Weights, rows of features and times are there if the file or the settings name them.
    """

    source: Array
    target: Array
    weights: Floats | None
    file: Path | str
    features: Floats | None = None
    times: Array | None = None


def read_edges(file: Path, ids: NodeIds, data: EdgeColumns = NO_COLUMNS) -> Edges:
    """Read the edges of a table or of an array, with the features and the time that ``data`` names."""
    if file.suffix == ".npy":
        source, target = (ids.indices(Column.of(ends, str(file))) for ends in _ends(read_array(file), file))
        return Edges(source, target, None, file, *data.from_files(file.parent, len(source)))
    names = {name for pair in PAIRS for name in pair}
    table = read_table(file, is_header=lambda cells: bool(names & cells), spaces=True)
    first, second, weight = _columns(table, ids, data)
    source, target = (ids.indices(table.column(name)) for name in (first, second))
    features, times = data.from_table(table)
    if weight is None:
        return Edges(source, target, None, file, features, times)
    with np.errstate(over="ignore"):  # infinite weights are refused by CSR.from_edges
        weights = table.column(weight).numbers().astype(np.float32)
    return Edges(source, target, weights, file, features, times)


def _ends(array: Array, file: Path) -> Array:
    """Return source and target of a 2 × m or m × 2 array."""
    if array.ndim != 2 or 2 not in array.shape or array.dtype.kind not in "iuU":
        raise SignError(
            f"{file}: contains {array.dtype} of shape {array.shape}; edges must be integers, 2 × m or m × 2"
        )
    if array.shape == (2, 2):
        raise SignError(f"{file}: the orientation of a 2 × 2 array is ambiguous; write these two edges as edges.csv")
    return array if array.shape[0] == 2 else array.T


def _columns(table: Table, ids: NodeIds, data: EdgeColumns) -> tuple[str, str, str | None]:
    """Return the names of the columns of sources, targets and weights."""
    names = list(table.columns)
    if not table.header:
        if len(names) not in (2, 3):
            separated = ", separated by commas" if len(names) == 1 else ""
            raise SignError(f"{table.file}: {HEADER_RULE}, or write two columns{separated}, or three with weights")
        return names[0], names[1], names[2] if len(names) == 3 else None
    first, second, weight = named_columns(table, data)
    if not str(table.file).endswith(".parquet") and ids.contains(first) and ids.contains(second):
        raise SignError(
            f"{table.file}: its first line could be a header or an edge between the nodes {first} and {second}; "
            "rename the columns"
        )
    return first, second, weight


def named_columns(table: Table, data: EdgeColumns = NO_COLUMNS) -> tuple[str, str, str | None]:
    """Return the names of the columns of sources, targets and weights of a table with a header; log unused ones."""
    names = list(table.columns)
    picked = ((table.pick((one,)), table.pick((two,))) for one, two in PAIRS)
    pairs = [(one, two) for one, two in picked if one is not None and two is not None]
    if not pairs:
        raise SignError(f"{table.file}: has columns {', '.join(names)}; {HEADER_RULE}")
    if len(pairs) > 1:
        found = " and ".join("/".join(pair) for pair in pairs)
        raise SignError(f"{table.file}: the columns {found} could all be sources and targets; rename all but one pair")
    first, second = pairs[0]
    weight = table.pick(WEIGHT)
    if unused := [name for name in names if name not in (first, second, weight, *data.names)]:
        log.info("%s: not used: %s; weights are in a column %s", table.file, ", ".join(unused), " or ".join(WEIGHT))
    return first, second, weight
