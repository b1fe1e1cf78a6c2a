"""Hops of used rows as Parquet, one row per node, as a cluster exports them: ids, labels and hops of each split."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sign.graph.csr import Array, Floats
from sign.system import arrays

ROWS = "rows"  # the folder, with one folder for each split
READ_ROWS = 1 << 12  # that are decoded at a time


@dataclass(frozen=True)
class ExportedRows:
    """The rows of a scope: its splits, the number of features, and the operators whose powers are columns, by letter.

    The node numbers of a split are in no order.
    """

    folder: Path
    splits: tuple[str, ...]
    features: int
    operators: Mapping[str, Mapping[str, Any]]

    def column(self, operator: Mapping[str, Any] | None, power: int) -> str | None:
        """Return the column of a power of the described operator, or None if it was not exported."""
        if operator is None:
            return "X"
        for letter, exported in self.operators.items():
            described = {name: value for name, value in exported.items() if name != "powers"}
            if described == dict(operator) and power <= exported["powers"]:
                return f"{letter}{power}"
        return None

    def blocks(self, column: str) -> Iterator[tuple[Array, Floats]]:
        """Yield the numbers of nodes and their hops, block by block."""
        import pyarrow.compute as pc

        rows = max(1, min(READ_ROWS, arrays.CHUNK_BYTES // (4 * self.features)))
        for split in self.splits:
            if (table := rows_of_split(self.folder, split)) is None:
                continue
            for batch in table.to_batches(
                columns=["node", column], batch_size=rows, batch_readahead=1, fragment_readahead=1
            ):
                values = pc.list_flatten(batch.column(column)).to_numpy(zero_copy_only=False)
                if batch.num_rows:
                    yield batch.column("node").to_numpy(), values.reshape(batch.num_rows, -1)


def rows_of_split(folder: Path, split: str) -> Any:
    """Return the rows of a split as a data set of pyarrow; None for a split without rows."""
    import pyarrow.dataset

    own = folder / ROWS / f"split={split}"
    return pyarrow.dataset.dataset(own, format="parquet") if own.is_dir() else None


def labels_of_split(folder: Path, split: str) -> tuple[Array, Array]:
    """Return the sorted nodes of a split, and their labels: numbers of classes, or a 0/1 matrix."""
    import pyarrow as pa
    import pyarrow.compute as pc

    exported = rows_of_split(folder, split)
    if exported is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    table = exported.to_table(columns=["node", "label"])
    nodes, label = table.column("node").to_numpy(), table.column("label")
    order = np.argsort(nodes)
    if pa.types.is_integer(label.type):
        return nodes[order], label.to_numpy().astype(np.int64)[order]
    return nodes[order], pc.list_flatten(label).to_numpy().reshape(len(nodes), -1)[order]
