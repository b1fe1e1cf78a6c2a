"""What the columns of a nodes table mean: id, labels, split, and features."""

from collections.abc import Sequence
from dataclasses import dataclass

from sign.datasets.custom.feature_columns import ColumnSettings
from sign.datasets.custom.folder import SPLIT, label_columns, other_columns
from sign.datasets.custom.node_ids import ID
from sign.datasets.custom.parquet.feature_columns import is_sparse
from sign.datasets.custom.tables import Table
from sign.errors import SignError


@dataclass(frozen=True)
class NodeColumns:
    """The names of the columns of a nodes table.

    ``labels`` is one column of classes or of arrays of 0 and 1, or several columns of 0 and 1. The features are
    numbers and arrays, or the one column ``sparse``.
    """

    id: str
    labels: tuple[str, ...]
    split: str | None
    dense: tuple[str, ...]
    sparse: str | None

    @classmethod
    def of(cls, header: Table, ignore: Sequence[str]) -> "NodeColumns":
        """Find the columns by their names and types, without those that are left out."""
        ColumnSettings(ignore).check(header)
        table = header.without(ignore)
        node = table.pick(ID)
        if node is None:
            raise SignError(f"{table.file}: has no column of ids; name it {' or '.join(ID)}, and give every node one")
        features = other_columns(table)
        sparse = [name for name in features if is_sparse(table.columns[name].type)]
        if not features:
            raise SignError(f"{table.file}: has no features; add columns of numbers, an array or a sparse column")
        if sparse and len(features) > 1:
            (other, *_) = [name for name in features if name != sparse[0]]
            raise SignError(
                f"{table.file}: has the sparse column {sparse[0]} beside {other}; keep one of them, and leave the "
                "others out with dataset.ignore"
            )
        dense = () if sparse else tuple(features)
        return cls(node, tuple(label_columns(table)), table.pick(SPLIT), dense, sparse[0] if sparse else None)
