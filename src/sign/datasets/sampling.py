"""Random features, labels and splits; equal seeds give equal arrays."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sign.graph.csr import Array, Floats
from sign.system import arrays

INSIDE = 0.8  # of the edges of a generated graph join two nodes of one community
SIGNAL = 0.25  # standard deviation of the centres of communities; that of the noise is one

ROWS = 1 << 16  # drawn at a time, each block from its own seed; changing it changes every graph


def normal_features(
    nodes: int, columns: int, seed: Sequence[int], mean: Callable[[slice], Floats] | None = None
) -> Floats:
    """Draw standard normal features within the memory budget, plus the ``mean`` of each block of rows."""
    features = arrays.empty((nodes, columns), np.float32)

    def draw(start: int) -> None:
        rows = slice(start, start + ROWS)
        block = features[rows]
        np.random.default_rng([*seed, start]).standard_normal(dtype=np.float32, out=block)
        if mean is not None:
            block += mean(rows)
        arrays.release(block)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(draw, range(0, nodes, ROWS)))
    return features


def multilabel_matrix(rng: np.random.Generator, community: Array, classes: int, dtype: type[np.floating]) -> Array:
    """Draw a random set of labels per community and flip 5 % of the labels of each node.

    ``dtype`` is the type of the random numbers that decide about flips.
    """
    labels_of_community = rng.random((classes, classes)) < 0.3
    flipped = rng.random((len(community), classes), dtype) < 0.05
    return (labels_of_community[community] ^ flipped).astype(np.uint8)


def split_per_class(labels: Array, classes: int, train: int, val: int, seed: int) -> tuple[Array, Array, Array]:
    """Draw ``train`` and ``val`` nodes per class; all other labelled nodes are test nodes."""
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(np.flatnonzero(labels == label)) for label in range(classes)]
    first, second, rest = (
        np.sort(np.concatenate([nodes[start:stop] for nodes in shuffled]))
        for start, stop in ((0, train), (train, train + val), (train + val, None))
    )
    return first, second, rest


def split_by_fraction(nodes: int, train: float, val: float, seed: int) -> tuple[Array, Array, Array]:
    """Draw fractions of the nodes; those that are neither ``train`` nor ``val`` are test nodes."""
    shuffled = np.random.default_rng(seed).permutation(nodes)
    first, second = round(train * nodes), round((train + val) * nodes)
    return np.sort(shuffled[:first]), np.sort(shuffled[first:second]), np.sort(shuffled[second:])
