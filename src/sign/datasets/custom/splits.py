"""Splits from a column of names, or from lists of nodes."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.tables import Column, read_table
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, quoted_name

LISTS = (".npy", ".txt", ".csv", ".csv.gz")
NAMES = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def splits_of_column(column: Column) -> dict[str, Array]:
    """Return the nodes of each split, from the name of the split of each node; a node may be in none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pc.utf8_lower(column.known().values.cast("string"))
    positions = pc.index_in(names, value_set=pa.array(list(NAMES)))
    unknown = names.filter(pc.and_(pc.is_null(positions), pc.is_valid(names)))
    if len(unknown):
        raise SignError(f"{column.where}: {unknown[0].as_py()!r} is not a split; use train, val, test or an empty cell")
    assigned = np.array([*NAMES.values(), ""])[positions.fill_null(-1).to_numpy()]
    return {split: np.flatnonzero(assigned == split) for split in SPLITS}


def splits_of_lists(files: dict[str, Path], ids: NodeIds) -> dict[str, Array]:
    """Return the nodes of each split, from a file of ids or node indices per split."""
    splits = {split: np.empty(0, np.int64) for split in SPLITS}
    for split, file in files.items():
        listed = ids.indices(read_ids(file))
        nodes = np.unique(listed)
        if len(nodes) < len(listed):
            node = nodes[np.bincount(np.searchsorted(nodes, listed)) > 1][0]
            raise SignError(f"{file}: node {quoted_name(ids.array(), node)} is duplicated; list each once")
        if len(nodes) and (nodes[0] < 0 or nodes[-1] >= ids.nodes):
            node = nodes[0] if nodes[0] < 0 else nodes[-1]
            raise SignError(f"{file}: lists node {node}, but nodes are numbered 0 to {ids.nodes - 1}")
        splits[split] = nodes
    return splits


def read_ids(file: Path) -> Column:
    """Read a list of node ids, one per line."""
    if file.suffix == ".npy":
        array = read_array(file)
        if array.ndim != 1 or array.dtype.kind not in "iuU":
            raise SignError(f"{file}: contains {array.dtype} of shape {array.shape}; write a list of node ids")
        return Column.of(array, str(file))
    table = read_table(file, is_header=lambda cells: False, is_row=lambda cells: False)
    if len(table.columns) > 1:
        raise SignError(f"{file}: has {len(table.columns)} columns; write a list of node ids, one per line")
    return Column(table.column("0").values.drop_null(), str(file))
