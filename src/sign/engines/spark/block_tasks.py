"""The tasks of executors in the plan *blocks*: each reads its records as a stream and holds the rows of one range."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np

from sign.engines.local.engine import LocalEngine
from sign.engines.powers import as_stored
from sign.engines.spark.records import Record, pack, pieces, unpack
from sign.engines.spark.shared_folder import Shared, open_shared
from sign.graph.csr import CSR, Array, Floats
from sign.graph.matrix import Matrix
from sign.graph.partition import row_pointers

# The kinds of records of a range, in the order in which a task reads them. The first three are the state between two
# products: a term of the polynomial, the term before it, and the sum of the terms so far.
CURRENT, BEFORE, TOTAL, PIECE, SUMS = range(5)
LOOPS = 1  # among records of rows: a stretch of the diagonal instead of entries
Batches = Iterator[Any]


def stream(batches: Batches) -> Iterator[Record]:
    """Yield the records of a task."""
    return chain.from_iterable(map(unpack, batches))


@dataclass(frozen=True)
class Cut:
    """Rows ▶ pieces: entries by the range of their column, with the factors multiplied in."""

    bounds: Array
    left: Shared | None
    right: Shared | None
    self_loop: float

    def __call__(self, batches: Batches) -> Batches:
        """Cut record by record."""
        left, right = open_shared(self.left), open_shared(self.right)
        for record in stream(batches):
            rows, columns, values = self._loops(record) if record.kind == LOOPS else self._entries(record)
            for factor, ends in ((left, rows), (right, columns)):
                if factor is not None:
                    values *= factor[ends]
            # the order in which the sums of pieces are added is that of these numbers
            number = -1 - record.first if record.kind == LOOPS else record.first
            yield from self._pieces(record.key, number, rows, columns, values.astype(np.float32))

    def _loops(self, record: Record) -> tuple[Array, Array, Array]:
        nodes = np.arange(record.first, record.first + (record.other if self.self_loop else 0))
        return nodes, nodes, np.full(len(nodes), self.self_loop)

    def _entries(self, record: Record) -> tuple[Array, Array, Array]:
        lengths = np.diff(record.numbers("indptr", np.int64))
        rows = np.repeat(np.arange(len(lengths)), lengths) + self.bounds[record.key] + record.other
        columns = record.numbers("indices", np.int64)
        weights = np.ones(len(columns)) if record.values is None else record.numbers("values", np.float32)
        return rows, columns, weights.astype(np.float64)

    def _pieces(self, key: int, number: int, rows: Array, columns: Array, values: Floats) -> Batches:
        if not len(rows):  # no range is without a piece, or its task would not know of it
            nothing = np.empty(0, np.int32)
            yield pack(Record(key, PIECE, key, number, nothing, np.zeros(1, np.int64), nothing, nothing))
            return
        ranges = np.searchsorted(self.bounds, columns, "right") - 1
        order = np.argsort(ranges, kind="stable")
        others, starts = np.unique(ranges[order], return_index=True)
        for other, part in zip(others, np.split(order, starts[1:]), strict=True):
            own, first = np.unique(rows[part], return_index=True)  # rows come in order
            indptr = np.append(first, len(part)).astype(np.int64)
            local_rows = (own - self.bounds[key]).astype(np.int32)
            local_columns = (columns[part] - self.bounds[other]).astype(np.int32)
            yield pack(Record(int(other), PIECE, key, number, local_rows, indptr, local_columns, values[part]))


@dataclass(frozen=True)
class Multiply:
    """The features of a range and pieces with its columns ▶ sums for the rows of the pieces."""

    bounds: Array
    mask: Shared | None
    width: int
    threads: int
    dtype: str  # the features are rounded to it first

    def __call__(self, batches: Batches) -> Batches:
        """Collect the features of a range, then multiply piece by piece."""
        mask = open_shared(self.mask)
        for key, records in groupby(stream(batches), lambda record: record.key):
            x = np.empty((self.bounds[key + 1] - self.bounds[key], self.width), np.float32)
            for number, record in enumerate(records):
                if record.kind == CURRENT:
                    values = record.floats(self.width)
                    x[record.first : record.first + len(values)] = as_stored(values, self.dtype)
                else:
                    yield from self._sums(record, number, x, mask)

    def _sums(self, piece: Record, number: int, x: Floats, mask: Array | None) -> Batches:
        rows, indptr = piece.numbers("rows"), piece.numbers("indptr", np.int64)
        indices, values = piece.numbers("indices"), piece.numbers("values", np.float32)
        if mask is not None:
            kept = np.flatnonzero(mask[self.bounds[piece.other] + rows])
            rows, lengths = rows[kept], np.diff(indptr)[kept]
            entries = np.repeat(indptr[kept], lengths) + _within(lengths)
            indptr, indices, values = row_pointers(lengths), indices[entries], values[entries]
        engine = LocalEngine(threads=self.threads)
        for part in pieces(len(rows), 4 * self.width) if len(rows) else [slice(0, 0)]:
            own = indptr[part.start : part.stop + 1]
            span = slice(own[0], own[-1])
            sums = np.empty((part.stop - part.start, self.width), np.float32)
            engine.product(Matrix(CSR(own - own[0], indices[span], values[span])), x, out=sums)
            yield pack(Record(piece.other, SUMS, piece.key, number, rows=rows[part], values=sums))


def _within(lengths: Array) -> Array:
    """Return 0, 1, … length - 1 for each length, concatenated."""
    within: Array = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return within


@dataclass(frozen=True)
class Combine:
    """The state and the sums of a range ▶ the next state: term ``number`` of a polynomial is added.

    The terms are T₁ = M T₀ and Tₖ = 2 M Tₖ₋₁ - Tₖ₋₂, as in ``sign.operators.chebyshev.apply_polynomial``. The last
    one leaves the result. State and product are of terms that are rounded to ``dtype``, as the store rounds the power
    before, T₀; other terms are not.
    """

    bounds: Array
    width: int
    terms: tuple[float, ...]
    number: int
    normalized: bool
    dtype: str

    @property
    def reads_state(self) -> bool:
        """Whether the result is more than the product itself."""
        return len(self.terms) > 2 or self.terms[0] != 0

    def __call__(self, batches: Batches) -> Batches:
        """Add up all sums of a range, then compute the next term."""
        for key, records in groupby(stream(batches), lambda record: record.key):
            shape = (int(self.bounds[key + 1] - self.bounds[key]), self.width)
            state = {kind: np.empty(shape, np.float32) for kind in self._kinds}
            product = np.zeros(shape, np.float32)
            for record in records:
                values = record.floats(self.width)
                if record.kind == SUMS:
                    product[record.numbers("rows")] += values
                elif record.kind in state:
                    state[record.kind][record.first : record.first + len(values)] = as_stored(values, self.dtype)
            for kind, array in self._next(product, state).items():
                for part in pieces(len(array), 4 * self.width):
                    yield pack(Record(key, kind, first=part.start, values=array[part]))

    @property
    def _kinds(self) -> tuple[int, ...]:
        if not self.reads_state:
            return ()
        return (CURRENT,) if self.number == 1 else (CURRENT, BEFORE, TOTAL)

    def _next(self, product: Floats, state: dict[int, Floats]) -> dict[int, Floats]:
        weight = np.float32(self.terms[self.number])
        if self.number > 1:
            product *= 2
            product -= state[BEFORE]
        total = weight * product
        if self.number > 1:
            total += state[TOTAL]
        elif self.reads_state:
            total += np.float32(self.terms[0]) * state[CURRENT]
        if self.number < len(self.terms) - 1:
            return {CURRENT: product, BEFORE: state[CURRENT], TOTAL: total}
        if self.normalized:
            total /= total[:, -1:].copy()  # the next power begins with a column of ones, too
        return {CURRENT: total}


@dataclass(frozen=True)
class Choose:
    """The state ▶ the rows that are used, which follow each other in the store."""

    bounds: Array
    used: Shared | None
    width: int

    def __call__(self, batches: Batches) -> Batches:
        """Choose record by record."""
        used = open_shared(self.used)
        for record in stream(batches):
            values, start = record.floats(self.width), int(self.bounds[record.key] + record.first)
            if used is None:
                yield pack(Record(record.key, first=start, values=values))
                continue
            first, last = np.searchsorted(used, (start, start + len(values)))
            if first < last:
                chosen = values[used[first:last] - start]
                yield pack(Record(record.key, first=int(first), values=chosen))
