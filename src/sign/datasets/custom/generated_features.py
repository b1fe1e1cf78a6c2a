"""Features of a graph that has none: the degrees of its nodes, one column per node, or random numbers."""

from typing import Literal

import numpy as np

from sign.errors import SignError
from sign.graph.csr import CSR, Array, Floats, index_type
from sign.graph.csr_transforms import induced_subgraph, remove_self_loops
from sign.graph.features import SparseFeatures
from sign.graph.node_digests import digest_ids
from sign.system import arrays

Method = Literal["degree", "one_hot", "random"]
BINS = 16  # of degrees: 0, 1-2, 3-6, 7-14, …; the last one has no upper bound
MAX_ONE_HOT = 20_000  # nodes: a hop of one-hot features is a dense matrix of nodes × nodes


def one_hot_features(nodes: int) -> SparseFeatures:
    """Return one column per node, which is one for this node."""
    if nodes > MAX_ONE_HOT:
        raise SignError(
            f"dataset.generate_features=one_hot: a graph of {nodes:,} nodes would have as many features; use it for at "
            f"most {MAX_ONE_HOT:,} nodes, or dataset.generate_features=random"
        )
    return SparseFeatures(np.arange(nodes + 1), np.arange(nodes, dtype=index_type(nodes)), nodes)


def random_features(nodes: int, ids: Array | None, size: int, seed: int) -> Floats:
    """Return standard normal numbers that depend on the id of a node, or its number, and on the seed alone.

    In another version of the graph, a node has the same numbers.
    """
    from scipy.special import ndtri

    from sign.graph.digest_kernels import draw_uniform

    features, identities = arrays.empty((nodes, size), np.float32), digest_ids(ids, nodes)
    for part in arrays.chunks(features):
        uniform = np.empty((part.stop - part.start, size))
        draw_uniform(identities[part], np.uint64(seed), uniform)
        features[part] = ndtri(uniform)
    return features


def degree_features(adjacency: CSR, directed: bool, train: Array | None) -> tuple[Floats, tuple[str, ...]]:
    """Return log(1 + degree) and a one-hot encoding of its power of two, of out- and in-degrees if ``directed``.

    Self-loops are not counted. With ``train``, the nodes of an inductive graph, the degree of a training node counts
    its training neighbours only, so that no edge of a held-out node changes a training row.
    """
    degrees = _degrees(adjacency, directed)
    if train is not None:
        for everywhere, among_train in zip(
            degrees, _degrees(induced_subgraph(adjacency, train), directed), strict=True
        ):
            everywhere[train] = among_train
    width = BINS + 1
    features = arrays.empty((adjacency.nodes, width * len(degrees)), np.float32)
    features[:] = 0
    names: list[str] = []
    rows = np.arange(adjacency.nodes)
    kinds = ("out-degree", "in-degree") if directed else ("degree",)
    for position, (kind, degree) in enumerate(zip(kinds, degrees, strict=True)):
        first = position * width
        features[:, first] = np.log1p(degree)
        bins = np.minimum(np.frexp(1.0 + degree)[1] - 1, BINS - 1)  # ⌊log2(1 + degree)⌋, exactly
        features[rows, first + 1 + bins] = 1
        names += [f"log(1 + {kind})", *(f"{kind} of {2**b - 1} to {2 ** (b + 1) - 2}" for b in range(BINS - 1))]
        names.append(f"{kind} of {2 ** (BINS - 1) - 1} or more")
    return features, tuple(names)


def _degrees(adjacency: CSR, directed: bool) -> list[Array]:
    """Return the degrees, or the out-degrees and the in-degrees, without self-loops."""
    simple = remove_self_loops(adjacency)
    degrees: list[Array] = [np.diff(simple.indptr)]
    if directed:
        incoming = np.zeros(simple.nodes, np.int64)
        for part in arrays.chunks(simple.indices):
            incoming += np.bincount(simple.indices[part], minlength=simple.nodes)
        degrees.append(incoming)
    return degrees
