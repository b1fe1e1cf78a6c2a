"""Rows of tables ▶ records of the plan *blocks*, on executors: features by range of nodes, and rows of a matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.engines.spark.block_tasks import CURRENT
from sign.engines.spark.cluster.node_rows import rows_of
from sign.engines.spark.records import SIZE, Record, pack, pieces
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling

ENTRIES = SIZE // 4  # of a record


@dataclass(frozen=True, eq=False)
class FeatureRecords:
    """Numbers and features of nodes ▶ the state before the first product; ``ones``: with a column of ones."""

    bounds: Array
    width: int
    scaling: FeatureScaling
    ones: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Make a record of each run of nodes that follow each other in one range."""
        for batch in batches:
            numbers = batch.column(0).to_numpy()
            values = self.scaling.apply(rows_of(batch.column(1), self.width))
            if self.ones:
                values = np.column_stack([values, np.ones(len(values), np.float32)])
            keys = np.searchsorted(self.bounds, numbers, "right") - 1
            cuts = np.flatnonzero((np.diff(numbers) != 1) | (np.diff(keys) != 0)) + 1
            for run in np.split(np.arange(len(numbers)), cuts):
                if len(run):
                    key, first = int(keys[run[0]]), int(numbers[run[0]])
                    for part in pieces(len(run), values[:1].nbytes):
                        start = first - int(self.bounds[key]) + part.start
                        yield pack(Record(key, CURRENT, first=start, values=values[run[part]]))


@dataclass(frozen=True, eq=False)
class RowRecords:
    """Entries in the order of rows and columns, with the range of each row ▶ rows of a matrix, compressed."""

    bounds: Array

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Make a record of each stretch of entries within a range."""
        held: list[tuple[Array, ...]] = []
        number = 0
        for columns in self._stretches(batches):
            if held and (columns[0][0] != held[0][0][0] or sum(len(part[0]) for part in held) >= ENTRIES):
                yield self._record(held, number)
                number += sum(len(part[0]) for part in held)
                held = []
            held.append(columns)
        if held:
            yield self._record(held, number)

    def _stretches(self, batches: Iterator[Any]) -> Iterator[tuple[Array, ...]]:
        """Yield the columns of batches, cut where the range changes."""
        for batch in batches:
            columns = tuple(column.to_numpy() for column in batch.columns)
            cuts = np.flatnonzero(np.diff(columns[0])) + 1
            yield from (
                part for part in zip(*(np.split(column, cuts) for column in columns), strict=True) if len(part[0])
            )

    def _record(self, held: list[tuple[Array, ...]], number: int) -> Any:
        keys, rows, columns, values = (np.concatenate(parts) for parts in zip(*held, strict=True))
        key, top = int(keys[0]), int(rows[0])
        lengths = np.bincount(rows - top)
        return pack(
            Record(
                key,
                other=top - int(self.bounds[key]),
                first=number,
                indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
                indices=columns.astype(np.int64),
                values=values.astype(np.float32),
            )
        )
