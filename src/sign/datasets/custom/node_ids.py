"""What nodes are called in files, and their numbers in the graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.tables import Column, Table
from sign.errors import SignError
from sign.graph.csr import Array

ID = ("id", "node", "node_id")


@dataclass(frozen=True, eq=False)
class Identity:
    """The nodes in order. Without ``names``, whole numbers or text, they are called 0, 1, …"""

    nodes: int
    names: Any = None

    @classmethod
    def of(cls, table: Table) -> "Identity":
        """The nodes of a table, by its column of ids if it has one."""
        import pyarrow.compute as pc

        chosen = table.pick(ID)
        if chosen is None:
            return cls(table.rows)
        column = table.column(chosen)
        if not (column.is_text or str(column.values.type) == "int64"):
            raise SignError(f"{column.where}: holds {column.values.type}; ids are whole numbers or text")
        if column.values.null_count:
            raise SignError(f"{column.where}: row {column.first_null()} has no id")
        counts = pc.value_counts(column.values)
        if len(counts) < len(column):
            duplicate = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")[0]
            raise SignError(f"{column.where}: {duplicate} is duplicated; ids must be unique")
        return cls(table.rows, column.values)

    def numbers(self, column: Column) -> Array:
        """The number of each node that is named in a column."""
        import pyarrow.compute as pc

        if self.names is None:
            return column.whole_numbers()
        wanted, names = column.values, self.names
        if wanted.type != names.type:  # one of them was read from text
            wanted, names = wanted.cast("string"), names.cast("string")
        found = pc.index_in(wanted, value_set=names.combine_chunks())
        if found.null_count:
            unknown = wanted.filter(pc.is_null(found))[0].as_py()
            name = "an empty cell" if unknown is None else f"{unknown!r}"
            raise SignError(
                f"{column.where}: {name} is not the id of a node; add the node, or remove the row"
            )
        numbers: Array = found.cast("int64").to_numpy()
        return numbers

    def has(self, name: str) -> bool:
        """Whether a node is called so."""
        import pyarrow.compute as pc

        return self.names is not None and bool(pc.index(self.names.cast("string"), name).as_py() >= 0)

    def in_order(self, table: Table) -> Table:
        """The rows of a table in the order of the nodes, if it has ids; without them."""
        chosen = table.pick(ID)
        if chosen is None:
            return table
        if self.names is None:
            raise SignError(
                f"{table.file}: has ids, but nodes have none; put an id column into the nodes table"
            )
        numbers = self.numbers(table.column(chosen))
        if len(np.unique(numbers)) < len(numbers):
            raise SignError(f"{table.file}, column {chosen}: an id is duplicated; write one row per node")
        order = np.argsort(numbers)
        others = {name: column.take(order) for name, column in table.columns.items() if name != chosen}
        if not others:
            raise SignError(f"{table.file}: has ids and nothing else")
        return Table(table.file, others)
