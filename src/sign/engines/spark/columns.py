"""The plan *columns*: each task takes some columns of the features through all powers, without a shuffle.

The graph lies in files that executors map, so it is there once a machine. A task holds its columns for all nodes.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from sign.engines.base import Job
from sign.engines.local.engine import LocalEngine
from sign.engines.spark.records import DDL, Record, pack, pieces, unpack
from sign.engines.spark.shared_folder import Place, Shared, open_shared
from sign.graph.csr import CSR, Array, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import Product


def run(job: Job, place: Place, width: int, threads: int) -> None:
    """Compute a job whose graph fits each executor, in tasks of ``width`` columns and ``threads`` threads."""
    starts = range(0, job.columns, width)
    with place.tables([f"features/{start}" for start in starts]) as sinks:
        for part in pieces(job.matrix.csr.nodes, 4 * width):
            rows = job.read(part, slice(None))
            for start, sink in zip(starts, sinks, strict=True):
                values = rows[:, start : start + width]
                sink(Record(start, other=values.shape[1], first=part.start, values=values))
    _send_by_value(job.apply)
    task = _Task(
        apply=job.apply,
        matrix=SharedMatrix.of(job.matrix, place),
        rows={power: place.share(rows, f"rows-{power}") for power, rows in job.rows.items()},
        wanted=frozenset(job.wanted),
        used=place.share(job.used, "used"),
        dtype=job.dtype,
        threads=threads,
    )
    # a table for each task, read as one partition: nothing is moved between executors
    tables = [place.table(f"features/{start}").coalesce(1) for start in starts]
    hops = reduce(lambda some, more: some.union(more), tables).mapInArrow(lambda batches: task(batches), DDL)
    hops.write.parquet(place.address("hops"))
    for record in place.records("hops"):
        columns = slice(record.key, min(record.key + width, job.columns))
        values = record.floats(columns.stop - columns.start, job.dtype)
        job.write(record.kind, slice(record.first, record.first + len(values)), columns, job.stored(values))


def _send_by_value(apply: Any) -> None:
    """An operator of the user's own is in a file that executors do not have: its code goes along."""
    from pyspark import cloudpickle

    module = inspect.getmodule(type(apply.__self__) if inspect.ismethod(apply) else apply)
    if module is not None and module.__name__.partition(".")[0] != "sign":
        cloudpickle.register_pickle_by_value(module)


@dataclass(frozen=True)
class SharedMatrix:
    """A matrix whose arrays executors map."""

    indptr: Shared
    indices: Shared
    weights: Shared | None
    left: Shared | None
    right: Shared | None
    self_loop: float

    @classmethod
    def of(cls, matrix: Matrix, place: Place) -> "SharedMatrix":
        """Put the arrays of a matrix where executors can map them."""
        csr = matrix.csr
        return cls(
            indptr=place.share(csr.indptr, "indptr"),
            indices=place.share(csr.indices, "indices"),
            weights=place.share(csr.weights, "weights"),
            left=place.share(matrix.left, "left"),
            right=place.share(matrix.right, "right"),
            self_loop=matrix.self_loop,
        )

    def open(self) -> Matrix:
        """The matrix, in an executor."""
        weights, left, right = (open_shared(shared) for shared in (self.weights, self.left, self.right))
        return Matrix(CSR(self.indptr.open(), self.indices.open(), weights), left, right, self.self_loop)


@dataclass(frozen=True)
class _Task:
    """What a task does with its columns."""

    apply: Any
    matrix: SharedMatrix
    rows: Mapping[int, Shared | None]
    wanted: frozenset[int]
    used: Shared | None
    dtype: str
    threads: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        matrix, used = self.matrix.open(), open_shared(self.used)
        start, x = _collected(batches, matrix.csr.nodes)
        spare: list[Floats] = []
        for power, rows in self.rows.items():
            result = self.apply(matrix, x, self._product(open_shared(rows), spare)).astype(
                np.float32, copy=False
            )
            # two arrays take turns where a power is one product
            spare, x = [] if np.may_share_memory(x, result) else [x], result
            if self.dtype != "float32":
                with np.errstate(over="ignore"):  # the driver finds what is not finite
                    x[:] = x.astype(self.dtype)
            if power in self.wanted:
                for part in pieces(len(x) if used is None else len(used), 4 * x.shape[1]):
                    values = x[part if used is None else used[part]].astype(self.dtype, copy=False)
                    yield pack(Record(start, kind=power, first=part.start, values=values))

    def _product(self, rows: Array | None, spare: list[Floats]) -> Product:
        engine = LocalEngine(threads=self.threads)

        def product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
            free = spare.pop() if out is None and spare and spare[0].shape == x.shape else out
            return engine.product(matrix, x, rows, free)

        return product


def _collected(batches: Iterator[Any], nodes: int) -> tuple[int, Floats]:
    """The columns of a task, for all nodes, and the first one's number."""
    start, x = 0, np.empty((0, 0), np.float32)
    for batch in batches:
        for record in unpack(batch):
            if not x.size:
                start, x = record.key, np.empty((nodes, record.other), np.float32)
            if record.key != start:
                raise RuntimeError(f"a task was given the columns from {start} and from {record.key}")
            values = record.floats(x.shape[1])
            x[record.first : record.first + len(values)] = values
    return start, x
