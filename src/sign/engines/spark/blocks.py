"""The plan *blocks*: neither the graph nor the features have to fit an executor.

Nodes are cut into ranges. The matrix becomes pieces, compressed rows of one range with columns of one range, with
all factors multiplied into their entries; features are records of one range. A product is two stages, each a shuffle
that brings together what has the same key and sorts it, so that a task reads it as a stream:

1. by columns: the features of a range meet the pieces with these columns, and make sums for the rows of each piece;
2. by rows: the sums for a range are added up in a fixed order, and the next term of the polynomial is computed.

After each product the state is Parquet again: a lost task, or a lost machine, is computed again from there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sign.engines.base import Block, Diffusion
from sign.engines.powers import as_stored
from sign.engines.spark.block_tasks import CURRENT, LOOPS, Choose, Combine, Cut, Multiply
from sign.engines.spark.records import DDL, SIZE, Record, pieces
from sign.engines.spark.shared_folder import Shared, SharedFolder
from sign.errors import SignError
from sign.graph.csr import CSR, Array, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import ONE_PRODUCT, Polynomial
from sign.system import arrays

ORDER = ("key", "kind", "other", "first")


def powers(diffusion: Diffusion, folder: SharedFolder, count: int, width: int, threads: int) -> Iterator[Block]:
    """Yield the powers, computed by ``count`` ranges of nodes and ``width`` columns at a time."""
    blocks = Blocks(folder, ranges(diffusion.matrix.csr.indptr, count), width, threads)
    blocks.cut(diffusion.matrix)
    used = folder.share(diffusion.used, "used")
    for first in range(0, diffusion.columns, width):
        yield from _column_powers(diffusion, blocks, slice(first, min(first + width, diffusion.columns)), used)


def _column_powers(diffusion: Diffusion, blocks: "Blocks", columns: slice, used: Shared | None) -> Iterator[Block]:
    """Yield all powers of some columns."""
    if diffusion.operator.recurrent:
        raise SignError(
            f"engine.plan=blocks: {diffusion.operator.name} needs two hops at a time; use engine.plan=columns"
        )
    polynomial, width = diffusion.operator.polynomial, columns.stop - columns.start
    normalized = polynomial is not None and polynomial.normalized

    def features(part: slice) -> Floats:
        rows = diffusion.read(part, columns)
        return np.column_stack([rows, np.ones(len(rows), np.float32)]) if normalized else rows

    blocks.width = width + normalized
    blocks.put(features)
    dtype = "float32"  # of the features; every power is rounded to that of the store before the next is computed
    for power, rows in diffusion.rows.items():
        if polynomial is None:
            blocks.apply(diffusion, dtype, rows)
        else:
            blocks.multiply(polynomial, dtype, rows)
        dtype = diffusion.dtype
        if power in diffusion.wanted:
            for first, values in blocks.get(used):
                yield Block(power, slice(first, first + len(values)), columns, values[:, :width])


def ranges(indptr: Array, count: int) -> Array:
    """Boundaries of at most ``count`` ranges of nodes, for which nodes and entries both count half.

    So none has more than twice the nodes of an even share, nor, but for a single long row, twice the entries.
    """
    nodes, entries = len(indptr) - 1, max(int(indptr[-1]), 1)

    def work(row: int) -> float:
        return row / nodes + int(indptr[row]) / entries

    inner = np.linspace(0, work(nodes), count + 1)[1:-1]
    cuts = [bisect_left(range(nodes), bound, key=work) for bound in inner]
    return np.unique(np.array([0, *cuts, nodes], np.int64))


def by_key(table: Any, count: int) -> Any:
    """Return records with the keys 0 to ``count`` - 1, one task per key, sorted."""
    return table.repartitionById(count, "key").sortWithinPartitions(*ORDER)


@dataclass
class Blocks:
    """The matrix, and the features between two products (the state), as tables."""

    folder: SharedFolder
    bounds: Array
    width: int
    threads: int
    version: int = 0
    kept: set[str] = field(default_factory=set)  # states that are not removed after a product

    def cut(self, matrix: Matrix) -> None:
        """Write the pieces of a matrix: the driver sends rows in order, executors cut them."""
        with self.folder.tables(["rows"]) as (sink,):
            for key in range(len(self.bounds) - 1):
                for record in row_records(matrix.csr, key, *map(int, self.bounds[key : key + 2])):
                    sink(record)
        left, right = (self.folder.share(factor, "factor") for factor in (matrix.left, matrix.right))
        self.cut_rows(Cut(self.bounds, left, right, matrix.self_loop), "rows")

    def cut_rows(self, cut: Cut, *names: str) -> None:
        """Write the pieces of tables of rows, and remove these."""
        self._write(self.folder.table(*names).mapInArrow(lambda batches: cut(batches), DDL), "pieces")
        for name in names:
            self.folder.remove(name)

    def put(self, read: Callable[[slice], Floats]) -> None:
        """Set the state to rows that the driver reads."""
        self.folder.remove(self.state)
        self.version += 1
        with self.folder.tables([self.state]) as (sink,):
            for key in range(len(self.bounds) - 1):
                first, last = map(int, self.bounds[key : key + 2])
                for part in pieces(last - first, 4 * self.width):
                    values = read(slice(first + part.start, first + part.stop))
                    sink(Record(key, CURRENT, first=part.start, values=values))

    def get(self, used: Shared | None) -> Iterator[tuple[int, Floats]]:
        """Yield the used rows of the state: the position of the first, and values."""
        choose = Choose(self.bounds, used, self.width)
        state = self.folder.table(self.state)
        self._write(state.mapInArrow(lambda batches: choose(batches), DDL), "chosen")
        for record in self.folder.records("chosen"):
            yield record.first, record.floats(self.width)
        self.folder.remove("chosen")

    def multiply(self, polynomial: Polynomial, dtype: str, rows: Array | None) -> None:
        """Replace the state x, rounded to ``dtype``, by B x, for B a polynomial of the matrix."""
        terms = (*polynomial.terms, 0.0)[: max(len(polynomial.terms), 2)]
        mask = None
        if rows is not None:
            wanted = np.zeros(self.bounds[-1], np.bool_)
            wanted[rows] = True
            mask = self.folder.share(wanted, "mask")
        for number in range(1, len(terms)):
            normalized, before = number == len(terms) - 1 and polynomial.normalized, dtype if number == 1 else "float32"
            self._product(mask, Combine(self.bounds, self.width, terms, number, normalized, before))

    def apply(self, diffusion: Diffusion, dtype: str, rows: Array | None) -> None:
        """Do the same for an operator whose polynomial is unknown: the driver holds all rows."""

        def product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
            self.put(lambda part: x[part])
            self.multiply(ONE_PRODUCT, "float32", rows)
            return self._load()

        x = as_stored(self._load(), dtype).astype(np.float32, copy=False)
        result = diffusion.operator.apply(diffusion.matrix, x, product)
        self.put(lambda part: result[part].astype(np.float32, copy=False))

    def _load(self) -> Floats:
        x = arrays.empty((int(self.bounds[-1]), self.width), np.float32)
        for first, values in self.get(None):
            x[first : first + len(values)] = values
        return x

    def _product(self, mask: Shared | None, combine: Combine) -> None:
        """Compute one product and the next term of the polynomial, which become the state."""
        count = len(self.bounds) - 1
        state = self.folder.table(self.state)
        multiply = Multiply(self.bounds, mask, self.width, self.threads, combine.dtype)
        current = state.where(state.kind == CURRENT)
        sums = by_key(self.folder.table("pieces").union(current), count).mapInArrow(
            lambda batches: multiply(batches), DDL
        )
        gathered = sums.union(state) if combine.reads_state else sums
        after = by_key(gathered, count).mapInArrow(lambda batches: combine(batches), DDL)
        before, self.version = self.state, self.version + 1
        self._write(after, self.state)
        if before not in self.kept:
            self.folder.remove(before)

    def _write(self, table: Any, name: str) -> None:
        table.write.parquet(self.folder.address(name))

    @property
    def state(self) -> str:
        """The name of the table of features."""
        return f"state-{self.version}"


def row_records(csr: CSR, key: int, first: int, last: int) -> Iterator[Record]:
    """The rows of a range: stretches of entries, which may end within a row, and stretches of the diagonal."""
    for part in pieces(last - first, 4):
        yield Record(key, LOOPS, other=part.stop - part.start, first=first + part.start)
    start, stop = int(csr.indptr[first]), int(csr.indptr[last])
    for low in range(start, stop, SIZE // 4):
        high = min(low + SIZE // 4, stop)
        top = int(np.searchsorted(csr.indptr, low, "right")) - 1
        bottom = int(np.searchsorted(csr.indptr, high, "left"))
        yield Record(
            key,
            other=top - first,
            first=low,
            indptr=np.clip(csr.indptr[top : bottom + 1], low, high) - low,
            indices=csr.indices[low:high].astype(np.int64, copy=False),
            values=None if csr.weights is None else csr.weights[low:high],
        )
        arrays.release(csr.indices[low:high], None if csr.weights is None else csr.weights[low:high])
