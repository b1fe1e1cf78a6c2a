"""Groups of nodes that belong together: a column of the nodes table, or an array beside it."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.tables import Table
from sign.errors import SignError
from sign.graph.build import groups_of
from sign.graph.csr import Array


def read_groups(folder: Path, nodes: Table | None, setting: str | None) -> Array | None:
    """Return the number of the group of each node, from what the setting ``dataset.groups`` names."""
    if setting is None:
        return None
    if nodes is not None and nodes.header and setting in nodes.columns:
        column = nodes.column(setting).known()
        if column.values.null_count:
            raise SignError(f"{column.where}: row {column.first_null()} has no group; give each node one")
        numbers = column.values.combine_chunks().dictionary_encode().indices
        return np.asarray(numbers.to_numpy()).astype(np.int64)
    if (file := folder / setting).suffix == ".npy" and file.is_file():
        return groups_of(read_array(file), str(file))
    columns = "there is no nodes table" if nodes is None else f"the columns are {', '.join(nodes.columns)}"
    raise SignError(
        f"dataset.groups={setting}: is neither a column of the nodes table nor a .npy file in {folder}; {columns}"
    )
