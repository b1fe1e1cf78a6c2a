"""Features and times of listed edges: columns of the edges table, arrays beside it, or tensors of PyG."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import NUMERIC, check_float32, read_array
from sign.datasets.custom.tables import Table
from sign.errors import SignError
from sign.graph.csr import Array, Floats

ADVICE = "encode text as numbers first"
Found = tuple[Floats | None, Array | None]  # features and times


@dataclass(frozen=True)
class EdgeColumns:
    """The settings ``dataset.edge_features`` and ``dataset.edge_time``, each of which names what the files contain."""

    features: tuple[str, ...] = ()
    time: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the settings name."""
        return self.features if self.time is None else (*self.features, self.time)

    def from_table(self, table: Table) -> Found:
        """Read columns of the edges table."""
        for name in self.names:
            if name not in table.columns or not table.header:
                found = ", ".join(table.columns) if table.header else "no header"
                raise SignError(
                    f"{table.file}: has no column {name}, which {self._setting(name)} names; it has {found}"
                )
        columns = {name: table.column(name).numbers(ADVICE) for name in self.names}
        return self._found(columns, str(table.file), table.rows)

    def from_files(self, folder: Path, edges: int) -> Found:
        """Read arrays with a row per edge, in the order of an edges file that is an array itself."""
        columns: dict[str, Array] = {}
        for name in self.names:
            if not name.endswith(".npy") or not (folder / name).is_file():
                raise SignError(
                    f"{self._setting(name)}: beside edges.npy it must be the name of a .npy file in {folder}"
                )
            columns[name] = read_array(folder / name)
        return self._found(columns, str(folder), edges)

    def from_tensors(self, tensors: Mapping[str, Array], file: Path, edges: int) -> Found:
        """Take tensors of a PyG object."""
        for name in self.names:
            if name not in tensors:
                raise SignError(f"{file}: has no {name}, which {self._setting(name)} names")
        return self._found(tensors, str(file), edges)

    def _found(self, columns: Mapping[str, Array], where: str, edges: int) -> Found:
        """Check and join columns: features in single precision, times in double precision."""
        for name in self.names:
            column = columns[name]
            if column.dtype.kind not in NUMERIC or column.ndim not in (1, 2) or len(column) != edges:
                raise SignError(
                    f"{where}, {name}: {column.dtype} of shape {column.shape}; write numbers for each of {edges} edges"
                )
            if not np.isfinite(column).all():
                row = int(np.flatnonzero(~np.isfinite(column.reshape(edges, -1)).all(axis=1))[0])
                raise SignError(f"{where}, {name}: row {row} is missing or infinite; complete it")
        times = None if self.time is None else columns[self.time].astype(np.float64)
        if times is not None and times.ndim != 1:
            raise SignError(f"{where}, {self.time}: of shape {times.shape}; write one time per edge")
        if not self.features:
            return None, times
        parts = [columns[name].reshape(edges, -1) for name in self.features]
        for name, part in zip(self.features, parts, strict=True):
            check_float32(part, f"{where}, {name}: a row")
        return np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32), times

    def _setting(self, name: str) -> str:
        return f"dataset.edge_time={name}" if name == self.time else f"dataset.edge_features=[{name}]"


NO_COLUMNS = EdgeColumns()
