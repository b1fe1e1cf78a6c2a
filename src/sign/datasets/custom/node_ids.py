"""Ids of nodes in files, and their indices in the graph."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sign.datasets.custom.tables import Column, Table
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import Graph

ID = ("id", "node", "node_id")
BLOCK = 1 << 16  # ids that are Python strings at a time


@dataclass(frozen=True, eq=False)
class NodeIds:
    """The ids of all nodes in order, integers or text; without ``ids`` they are 0, 1, …"""

    nodes: int
    ids: Any = None

    @classmethod
    def of(cls, table: Table) -> "NodeIds":
        """Read the ids of the nodes table from its id column, if it has one."""
        import pyarrow.compute as pc

        name = table.pick(ID)
        if name is None:
            return cls(table.rows)
        column = table.column(name)
        if not (column.is_text or str(column.values.type) == "int64"):
            raise SignError(f"{column.where}: contains {column.values.type}; ids must be integers or text")
        if column.values.null_count:
            raise SignError(f"{column.where}: row {column.first_null()} has no id")
        counts = pc.value_counts(column.values)
        if len(counts) < len(column.values):
            duplicate = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")[0]
            raise SignError(f"{column.where}: {duplicate} is duplicated; ids must be unique")
        return cls(table.rows, column.values)

    @classmethod
    def of_graph(cls, graph: Graph) -> "NodeIds":
        """The ids that a graph carries."""
        import pyarrow as pa

        if graph.node_ids is None:
            return cls(graph.nodes)
        return cls(graph.nodes, pa.chunked_array([graph.node_ids.tolist()]))

    def indices(self, column: Column) -> Array:
        """Return the node index of each id in a column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.ids is None:
            return column.integers()
        if str(column.values.type) in ("bool", "double"):  # pandas writes integers as 1.0 if some are missing
            column = Column(pa.chunked_array([column.integers()]), column.where)
        values, ids = column.values, self.ids
        if values.type != ids.type:  # one of them was read from text
            values, ids = values.cast("string"), ids.cast("string")
        positions = pc.index_in(values, value_set=ids.combine_chunks())
        if positions.null_count:
            unknown = values.filter(pc.is_null(positions))[0].as_py()
            cell = "an empty cell" if unknown is None else f"{unknown!r}"
            raise SignError(f"{column.where}: {cell} is not the id of a node; add the node, or remove the row")
        return np.asarray(positions.cast("int64").to_numpy())

    def array(self) -> Array | None:
        """Return the ids, if there are any, as an array."""
        return None if self.ids is None else id_array(self.ids)

    def contains(self, text: str) -> bool:
        """Return whether a node has this id."""
        import pyarrow.compute as pc

        return self.ids is not None and bool(pc.index(self.ids.cast("string"), text).as_py() >= 0)

    def sort_rows(self, table: Table) -> Table:
        """Sort the rows of a table by its ids, if it has any, and remove the id column."""
        name = table.pick(ID)
        if name is None:
            return table
        if self.ids is None:
            raise SignError(f"{table.file}: has ids, but the nodes have none; add an id column to the nodes table")
        indices = self.indices(table.column(name))
        if len(np.unique(indices)) < len(indices):
            raise SignError(f"{table.file}, column {name}: an id is duplicated; write one row per node")
        order = np.argsort(indices)
        others = {other: column.take(order) for other, column in table.columns.items() if other != name}
        if not others:
            raise SignError(f"{table.file}: has no column beside the ids")
        return replace(table, columns=others)


def id_array(ids: Any) -> Array:
    """Return a list or Arrow array of ids as integers, or as strings of any length.

    The strings of numpy's ``StringDType`` take the memory of their characters; in a ``str_`` array one long id would
    make all others as long.
    """
    import pyarrow as pa

    values = pa.array(ids) if isinstance(ids, list) else ids
    if str(values.type) == "int64":
        return np.asarray(values.to_numpy())
    array = np.empty(len(values), np.dtypes.StringDType())
    for start in range(0, len(values), BLOCK):
        array[start : start + BLOCK] = values[start : start + BLOCK].to_pylist()
    return array
