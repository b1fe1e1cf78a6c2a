"""Triangles by partitioned intersection: a task holds two parts of the edges, whatever the size of the graph.

Every edge points to its end of higher degree, as in :mod:`sign.operators.motif_counts`. Rows are cut into parts; a
triangle u → v → w, u → w has its edges in the rows of u and v, so the task of these two parts finds it, and no other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from sign.engines.spark.block_tasks import Batches, stream
from sign.engines.spark.blocks import by_key, ranges
from sign.engines.spark.records import DDL, Record, pack, pieces
from sign.engines.spark.shared_folder import Shared, SharedFolder
from sign.graph.csr import CSR, Array
from sign.operators.motif_counts import orient, spread
from sign.system import arrays
from sign.system.jit import compiled


def count(csr: CSR, folder: SharedFolder, parts: int) -> Array:
    """Return the triangles of each entry of a symmetric matrix without self-loops, by ``parts`` parts of its rows."""
    from pyspark.sql import functions as f

    indptr, indices = orient(csr)
    bounds = ranges(indptr, parts)
    parts = len(bounds) - 1
    with folder.tables(["upwards"]) as (sink,):
        for key in range(parts):
            start, stop = (int(indptr[bound]) for bound in bounds[key : key + 2])
            sink(Record(key, first=0, indices=indices[:0]))  # so that a part without edges exists, too
            for part in pieces(stop - start, indices.itemsize):
                own = indices[start + part.start : start + part.stop].astype(np.int64, copy=False)
                sink(Record(key, first=part.start, indices=own))
    shared = folder.share(indptr, "indptr")
    low, high = f.least("key", "partner"), f.greatest("key", "partner")
    pairs = (
        folder.table("upwards")
        .withColumn("partner", f.explode(f.sequence(f.lit(0), f.lit(parts - 1))))
        .withColumn("kind", f.col("key"))
        .withColumn("key", (high * (high + 1) / 2 + low).cast("int"))
        .drop("partner")
    )
    intersect, add = Intersect(bounds, shared), Add(bounds, shared)
    triangles = by_key(pairs, parts * (parts + 1) // 2).mapInArrow(lambda batches: intersect(batches), DDL)
    by_key(triangles, parts).mapInArrow(lambda batches: add(batches), DDL).write.parquet(folder.address("counts"))
    counts = arrays.empty(len(indices), np.int64)
    for record in folder.records("counts"):
        values, start = record.numbers("values", np.int64), int(indptr[bounds[record.key]]) + record.first
        counts[start : start + len(values)] = values
    return spread(csr.indptr, csr.indices, indptr, indices, counts)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Intersect:
    """Two parts ▶ what their edges have of triangles with an edge from one part to the other."""

    bounds: Array
    indptr: Shared

    def __call__(self, batches: Batches) -> Batches:
        """Collect the two parts of a pair, then intersect their rows."""
        indptr = self.indptr.open()
        for _, records in groupby(stream(batches), lambda record: record.key):
            parts = {}
            for part, own in groupby(records, lambda record: record.kind):
                first, last = self.bounds[part : part + 2]
                rows = indptr[first : last + 1] - indptr[first]
                columns = np.concatenate([record.numbers("indices", np.int64) for record in own])
                parts[part] = (int(first), rows, columns, np.zeros(len(columns), np.int64))
            for one, two in {(a, b) for a in parts for b in parts if a != b or len(parts) == 1}:
                intersect(*parts[one], *parts[two])
            for part, (*_, counts) in parts.items():
                yield from _records(part, counts)


@dataclass(frozen=True)
class Add:
    """The counts of a part from all its pairs ▶ their sum."""

    bounds: Array
    indptr: Shared

    def __call__(self, batches: Batches) -> Batches:
        """Add up all of a part."""
        indptr = self.indptr.open()
        for key, records in groupby(stream(batches), lambda record: record.key):
            first, last = self.bounds[key : key + 2]
            total = np.zeros(indptr[last] - indptr[first], np.int64)
            for record in records:
                values = record.numbers("values", np.int64)
                total[record.first : record.first + len(values)] += values
            yield from _records(key, total)


def _records(key: int, counts: Array) -> Iterator[Any]:
    for part in pieces(len(counts), counts.itemsize):
        yield pack(Record(key, first=part.start, values=counts[part]))


@compiled
def intersect(
    first: Any, indptr: Any, indices: Any, counts: Any, other: Any, others: Any, theirs: Any, their_counts: Any
) -> None:
    """Add the triangles u → v → w, u → w to their three edges, for u in one part and v in the other."""
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e] - other
            if v < 0 or v >= len(others) - 1:
                continue
            g, f = indptr[u], others[v]
            while g < indptr[u + 1] and f < others[v + 1]:
                difference = indices[g] - theirs[f]
                if difference == 0:
                    counts[e] += 1
                    counts[g] += 1
                    their_counts[f] += 1
                g += difference <= 0
                f += difference >= 0
