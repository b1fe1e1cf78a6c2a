"""The plan *columns*: each task takes some columns of the features through all powers, without a shuffle.

The graph is in files that executors map, so there is one copy per machine. A task holds its columns for all nodes.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from sign.engines.base import Block, Diffusion
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import powers as by_power
from sign.engines.spark.records import DDL, Record, pack, pieces, unpack
from sign.engines.spark.shared_folder import Shared, SharedFolder, open_shared
from sign.graph.csr import CSR, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import Operator


def powers(diffusion: Diffusion, folder: SharedFolder, width: int, threads: int) -> Iterator[Block]:
    """Yield the powers of a graph that fits each executor, by tasks of ``width`` columns and ``threads`` threads."""
    starts = range(0, diffusion.columns, width)
    with folder.tables([f"features/{start}" for start in starts]) as sinks:
        for part in pieces(diffusion.matrix.csr.nodes, 4 * width):
            rows = diffusion.read(part, slice(None))
            for start, sink in zip(starts, sinks, strict=True):
                values = rows[:, start : start + width]
                sink(Record(start, other=values.shape[1], first=part.start, values=values))
    _send_by_value(diffusion.operator)
    task = ColumnTask(
        operator=diffusion.operator,
        matrix=SharedMatrix.of(diffusion.matrix, folder),
        rows={power: folder.share(rows, f"rows-{power}") for power, rows in diffusion.rows.items()},
        wanted=frozenset(diffusion.wanted),
        used=folder.share(diffusion.used, "used"),
        dtype=diffusion.dtype,
        threads=threads,
    )
    # one table per task, read as one partition: nothing is moved between executors
    tables = [folder.table(f"features/{start}").coalesce(1) for start in starts]
    hops = reduce(lambda some, more: some.union(more), tables).mapInArrow(lambda batches: task(batches), DDL)
    hops.write.parquet(folder.address("hops"))
    for record in folder.records("hops"):
        columns = slice(record.key, min(record.key + width, diffusion.columns))
        values = record.floats(columns.stop - columns.start)
        yield Block(record.kind, slice(record.first, record.first + len(values)), columns, values)


def _send_by_value(operator: Operator) -> None:
    """Pickle the class of an operator outside ``sign`` with its code: executors do not have its file."""
    from pyspark import cloudpickle

    module = inspect.getmodule(type(operator))
    if module is not None and module.__name__.partition(".")[0] != "sign":
        cloudpickle.register_pickle_by_value(module)


@dataclass(frozen=True)
class SharedMatrix:
    """A matrix whose arrays executors map."""

    arrays: list[Shared | None]
    self_loop: float

    @classmethod
    def of(cls, matrix: Matrix, folder: SharedFolder) -> "SharedMatrix":
        """Share the arrays of a matrix with the executors."""
        csr = matrix.csr
        arrays = (csr.indptr, csr.indices, csr.weights, matrix.left, matrix.right)
        return cls([folder.share(array, "matrix") for array in arrays], matrix.self_loop)

    def open(self) -> Matrix:
        """Return the matrix, in an executor."""
        indptr, indices, weights, left, right = map(open_shared, self.arrays)
        csr = CSR(indptr, indices, weights)  # type: ignore[arg-type]  # every matrix has the first two
        return Matrix(csr, left, right, self.self_loop)


@dataclass(frozen=True)
class ColumnTask:
    """A task of Spark: takes its columns through all powers."""

    operator: Operator
    matrix: SharedMatrix
    rows: Mapping[int, Shared | None]
    wanted: frozenset[int]
    used: Shared | None
    dtype: str
    threads: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Collect the columns of the task, and yield the wanted powers as records."""
        matrix, used = self.matrix.open(), open_shared(self.used)
        start, x = _collect(batches, matrix.csr.nodes)
        rows = {power: open_shared(own) for power, own in self.rows.items()}
        diffusion = Diffusion(self.operator, matrix, x, rows, self.wanted, used, self.dtype)
        product = LocalEngine(threads=self.threads).product
        for power, values in by_power(diffusion, x, product, overwrite=True):
            for part in pieces(len(values) if used is None else len(used), 4 * values.shape[1]):
                # not rounded: the store checks that its type can hold the values
                yield pack(
                    Record(start, kind=power, first=part.start, values=values[part if used is None else used[part]])
                )


def _collect(batches: Iterator[Any], nodes: int) -> tuple[int, Floats]:
    """Return the number of the first column of a task, and its columns for all nodes."""
    start, x = 0, np.empty((0, 0), np.float32)
    for batch in batches:
        for record in unpack(batch):
            if not x.size:
                start, x = record.key, np.empty((nodes, record.other), np.float32)
            if record.key != start:
                raise RuntimeError(f"a task received the columns from {start} and from {record.key}")
            values = record.floats(x.shape[1])
            x[record.first : record.first + len(values)] = values
    return start, x
