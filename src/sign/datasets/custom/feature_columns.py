"""Columns of a table ▶ features: numbers, and text that is one-hot encoded."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import check_float32
from sign.datasets.custom.tables import Table
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.system import arrays

log = logging.getLogger(__name__)
MAX_CATEGORIES = 1000  # of a column that is one-hot encoded


@dataclass(frozen=True)
class ColumnSettings:
    """Names of columns that are left out, and of columns that are one-hot encoded.

    In an ``inductive`` graph the categories are those of the training nodes; with ``known_features``, the features of
    a trained model, they are its.
    """

    ignore: Sequence[str] = ()
    one_hot: Sequence[str] = ()
    inductive: bool = False
    known_features: Sequence[str] = ()

    def check(self, *tables: Table | None) -> None:
        """Raise :class:`SignError` for a name that no table has."""
        known = [name for table in tables if table is not None for name in table.columns]
        for setting, names in (("ignore", self.ignore), ("one_hot", self.one_hot)):
            for name in names:
                if name not in known:
                    columns = (
                        f"the columns are {', '.join(dict.fromkeys(known))}"
                        if known
                        else "the features have no named columns"
                    )
                    raise SignError(f"dataset.{setting}: there is no column {name}; {columns}")

    def check_encoded(self, names: Sequence[str]) -> None:
        """Raise :class:`SignError` unless every column that is to be encoded is a feature."""
        for name in self.one_hot:
            if name not in names:
                features = f"the columns of features are {', '.join(names)}" if names else "no column is one"
                raise SignError(f"dataset.one_hot: column {name} is not a feature; {features}")

    def encode(self, table: Table, names: Sequence[str], train: Array) -> tuple[Floats, tuple[str, ...]]:
        """Return columns of a table as features, NaN for missing values, and the names of the features."""
        texts = {name: table.column(name).known().values.cast("string") for name in names if name in self.one_hot}
        categories = {name: self._categories(name, text, train) for name, text in texts.items()}
        encoded = tuple(
            feature
            for name in names
            for feature in ([f"{name}={value}" for value in categories[name]] if name in categories else [name])
        )
        matrix, position = arrays.empty((table.rows, len(encoded)), np.float32), 0
        for name in names:
            if name in categories:
                width = len(categories[name])
                _write_one_hot(texts[name], categories[name], matrix[:, position : position + width])
                position += width
            else:
                remedy = (
                    f"leave the column out with dataset.ignore=[{name}], or encode it with dataset.one_hot=[{name}]"
                )
                numbers = table.column(name).numbers(remedy)
                check_float32(numbers[None], f"column {name} of the features")
                matrix[:, position] = numbers
                position += 1
        return matrix, encoded

    def _categories(self, name: str, values: Any, train: Array) -> list[str]:
        """Return the sorted values of a column, or those that a trained model knows."""
        known = [feature.removeprefix(f"{name}=") for feature in self.known_features if feature.startswith(f"{name}=")]
        if known:
            unknown = sorted(set(values.drop_null().unique().to_pylist()) - set(known))
            if unknown:
                log.info("column %s: %s did not occur in training, and counts as no category", name, ", ".join(unknown))
            return known
        found = (values.take(train) if self.inductive else values).drop_null().unique().to_pylist()
        if not 0 < len(found) <= MAX_CATEGORIES:
            raise SignError(
                f"dataset.one_hot: column {name} has {len(found):,} different values; one-hot encode a column that has "
                f"1 to {MAX_CATEGORIES:,}, and leave this one out with dataset.ignore=[{name}]"
            )
        return sorted(found)


def _write_one_hot(values: Any, categories: list[str], block: Floats) -> None:
    """Write a one in the column of each value, zeros for a value that is no category, NaN for a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = pc.index_in(values, value_set=pa.array(categories)).fill_null(-1).to_numpy()
    block[:] = 0
    rows = np.flatnonzero(columns >= 0)
    block[rows, columns[rows]] = 1
    block[pc.is_null(values).to_numpy()] = np.nan
