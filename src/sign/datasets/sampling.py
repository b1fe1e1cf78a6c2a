"""Random features and labels of generated graphs; equal seeds give equal arrays."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sign.graph.csr import Array, Floats
from sign.system import arrays

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
