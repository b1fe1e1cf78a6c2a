"""Hops by ranges of nodes ▶ one row per node with its id, split, label and all hops, on executors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np

from sign.engines.spark.block_tasks import stream
from sign.engines.spark.blocks import by_key
from sign.engines.spark.cluster.graph import ClusterGraph, HopTable
from sign.engines.spark.records import DDL, Record, pack, pieces
from sign.errors import SignError
from sign.graph.csr import Array, Floats

NODES = -1  # the kind of records of nodes, which come before those of hops
Row = Callable[[Any, Floats], Any]  # a table of nodes, and their hops side by side ▶ a batch of rows


def hop_rows(graph: ClusterGraph, hops: Sequence[HopTable], where: str, make: Row, schema: str) -> Any:
    """Return what ``make`` makes of the nodes that satisfy a condition and of their hops, as a data frame."""
    from pyspark.sql import functions as f

    count, width = len(graph.bounds) - 1, graph.nodes.rows.width
    collect, assemble = NodeRecords(), Assemble(graph.bounds, width, [hop.columns for hop in hops], make)
    nodes = graph.keys(graph.nodes.frame.where(where), "number").select("key", "number", "id", "split", "label")
    folder, chosen = graph.job.folder, f"{graph.name}-chosen"
    graph.job.keep(nodes.mapInArrow(lambda batches: collect(batches), DDL), chosen)
    tables = [folder.table(chosen)]
    tables += [folder.table(hop.table).withColumn("kind", f.lit(number)) for number, hop in enumerate(hops)]
    every = reduce(lambda some, more: some.union(more), tables)
    return by_key(every, count).mapInArrow(lambda batches: assemble(batches), schema)


@dataclass(frozen=True)
class NodeRecords:
    """Rows of nodes with their range as the first column ▶ records that contain these rows."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Make a record of the nodes of each range in a batch."""
        import pyarrow as pa

        for batch in batches:
            keys, numbers = batch.column(0).to_numpy(), batch.column(1).to_numpy()
            for rows in np.split(np.arange(len(keys)), np.flatnonzero(np.diff(keys)) + 1):
                if len(rows):
                    own = pa.Table.from_batches([batch.slice(int(rows[0]), len(rows))])
                    sink = pa.BufferOutputStream()
                    with pa.ipc.new_stream(sink, own.schema) as writer:
                        writer.write_table(own)
                    content = np.frombuffer(sink.getvalue(), np.uint8)
                    yield pack(Record(int(keys[rows[0]]), NODES, first=int(numbers[rows[0]]), values=content))


@dataclass(frozen=True, eq=False)
class Assemble:
    """The nodes of a range and their hops ▶ rows. A task holds the hops of the chosen nodes of one range."""

    bounds: Array
    width: int
    columns: list[int]
    make: Row

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Collect range by range."""
        import pyarrow as pa

        for key, records in groupby(stream(batches), lambda record: record.key):
            parts: list[Any] = []
            nodes, local, wide = None, np.empty(0, np.int64), np.empty((0, 0), np.float32)
            for record in records:
                if record.kind == NODES:
                    parts.append(pa.ipc.open_stream(pa.py_buffer(record.values)).read_all())
                elif parts:
                    if nodes is None:
                        nodes = pa.concat_tables(parts).sort_by("number").combine_chunks()
                        local = nodes.column("number").to_numpy() - self.bounds[key]
                        wide = np.full((len(local), len(self.columns) * self.width), np.nan, np.float32)
                    self._place(record, local, wide)
            if nodes is not None:
                self._check(nodes, wide)
                for part in pieces(len(local), wide[:1].nbytes):
                    yield self.make(nodes.slice(part.start, part.stop - part.start), wide[part])

    def _place(self, record: Record, local: Array, wide: Floats) -> None:
        """Copy the chosen rows of a record."""
        values, first = record.floats(self.columns[record.kind]), record.kind * self.width
        low, high = np.searchsorted(local, (record.first, record.first + len(values)))
        wide[low:high, first : first + self.width] = values[local[low:high] - record.first, : self.width]

    def _check(self, nodes: Any, wide: Floats) -> None:
        """Raise :class:`SignError` for a value that is not finite, and one that no record had."""
        if len(wrong := np.flatnonzero(~np.isfinite(wide).all(axis=1))):
            node = nodes.column("id")[int(wrong[0])].as_py()
            raise SignError(
                f"the hops of node `{node}` are not finite; scale the features (scaling.features=standardize)"
            )
