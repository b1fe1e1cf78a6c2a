"""Random splits of nodes into training, validation and test nodes."""

import numpy as np

from sign.graph.csr import Array


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
