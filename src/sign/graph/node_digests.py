"""Hashes of each node: of its id, of its features, and of its row of a matrix.

Equal hashes mean equal content, but for a chance of 2⁻⁶⁴ per node.
"""

import numpy as np
from numpy.typing import NDArray

from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.system import arrays

Digests = NDArray[np.uint64]
ID_BLOCK = 1 << 12  # text ids at a time, all as wide as the longest among them


def digest_ids(ids: Array | None, nodes: int) -> Digests:
    """Hash the id of each node, or its number if nodes have no ids."""
    from sign.graph.digest_kernels import digest_values

    digests = arrays.empty(nodes, np.uint64)
    for start in range(0, nodes, ID_BLOCK):
        part = slice(start, min(start + ID_BLOCK, nodes))
        digest_values(_id_values(ids, part), digests[part])
    return digests


def _id_values(ids: Array | None, part: slice) -> Array:
    """Return some ids as rows of unsigned integers: a number, or the characters of a text."""
    if ids is None:
        return np.arange(part.start, part.stop, dtype=np.uint64)[:, None]
    if ids.dtype.kind in "iu":
        return ids[part].astype(np.int64).view(np.uint64)[:, None]
    text = np.array(ids[part].tolist(), np.str_)
    return text.view(np.uint32).reshape(len(text), -1).astype(np.uint64)


def digest_features(graph: Graph, scaling: FeatureScaling) -> Digests:
    """Hash the scaled features of each node."""
    from sign.graph.digest_kernels import digest_values

    digests = arrays.empty(graph.nodes, np.uint64)
    for part, rows in arrays.gather(graph.features, None):
        values = np.ascontiguousarray(scaling.apply(rows), np.float32)
        digest_values(values.view(np.uint32), digests[part])
    return digests


def digest_rows(matrix: Matrix, ids: Digests) -> Digests:
    """Hash what each row of a matrix multiplies, in its order: entries, factors, and the ids of the columns."""
    from sign.graph.digest_kernels import digest_entries

    csr, digests = matrix.csr, arrays.empty(len(ids), np.uint64)
    weights, left, right = (
        None if values is None else values.view(np.uint32) for values in (csr.weights, matrix.left, matrix.right)
    )
    for bounds in csr.blocks():
        digest_entries(csr.indptr, csr.indices, weights, left, right, matrix.self_loop != 0, ids, bounds, digests)
    return digests
