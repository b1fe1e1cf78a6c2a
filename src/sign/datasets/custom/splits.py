"""Who is for training, validation and testing: by words, or by lists of nodes."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.arrays import read_array
from sign.datasets.custom.node_ids import Identity
from sign.datasets.custom.tables import Column, read_table
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS

LISTS = (".npy", ".txt", ".csv", ".csv.gz")
WORDS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def by_words(column: Column) -> dict[str, Array]:
    """The nodes of each split, from a word for each node; a node without a word is in none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_lower(column.values.cast("string"))
    places = pc.index_in(words, value_set=pa.array(list(WORDS)))
    unknown = words.filter(pc.and_(pc.is_null(places), pc.is_valid(words)))
    if len(unknown):
        raise SignError(
            f"{column.where}: {unknown[0].as_py()!r} is no split; use train, val, test or nothing"
        )
    found, meaning = places.fill_null(-1).to_numpy(), list(WORDS.values())
    return {
        split: np.flatnonzero(np.isin(found, [i for i, word in enumerate(meaning) if word == split]))
        for split in SPLITS
    }


def by_lists(files: dict[str, Path], identity: Identity) -> dict[str, Array]:
    """The nodes of each split, from a file of ids for each; without ids, of node numbers."""
    splits = {split: np.empty(0, np.int64) for split in SPLITS}
    for split, file in files.items():
        numbers = identity.numbers(_read_list(file))
        nodes = np.unique(numbers)
        if len(nodes) < len(numbers):
            raise SignError(f"{file}: a node is duplicated; list each once")
        if len(nodes) and (nodes[0] < 0 or nodes[-1] >= identity.nodes):
            wrong = nodes[0] if nodes[0] < 0 else nodes[-1]
            raise SignError(f"{file}: names node {wrong}, but nodes are numbered 0 to {identity.nodes - 1}")
        splits[split] = nodes
    return splits


def _read_list(file: Path) -> Column:
    if file.suffix == ".npy":
        array = read_array(file)
        if array.ndim != 1 or array.dtype.kind not in "iuU":
            raise SignError(f"{file}: {array.dtype} of shape {array.shape}; a split is a list of node ids")
        return Column.of(array, str(file))
    table = read_table(file, is_header=lambda cells: False)
    if len(table.columns) > 1:
        raise SignError(
            f"{file}: has {len(table.columns)} columns; a split is a list of node ids, one a line"
        )
    column = table.column("0")
    return Column(column.values.drop_null(), str(file))
