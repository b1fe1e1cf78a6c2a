"""Rows of hops that are the same in an earlier version of the graph, which are copied instead of computed.

Beside the hops of all nodes, the store keeps three hashes per node: of its id, of its scaled features, and of its row
of the operator's matrix B. A row of Bᵏ X can differ from that of an earlier version only if the node is new, if its
row of B changed, or if that row reads a node whose row of Bᵏ⁻¹ X can differ. An engine that sums a row in the order of
its entries would compute all others with the same bits.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sign.engines.base import KnownRows
from sign.graph.classification import Origin
from sign.graph.csr import Array
from sign.graph.matrix import Matrix
from sign.graph.node_digests import Digests, digest_rows
from sign.store.maintenance import folders, read_folder
from sign.store.store import NODE_DIGESTS, HopFolder
from sign.system import arrays

COMPARED = 8  # earlier versions at most, those used last
# An earlier version has the same values of these fields, and others of the graph's.
SAME = ("format", "dtype", "operator", "scaling", "rows")

Mask = NDArray[np.bool_]


def node_digests(origin: Origin, matrix: Matrix) -> Digests:
    """Return the hashes of all nodes, one row per kind: ids, features, rows of the matrix."""
    ids, features = origin.node_digests
    digests = arrays.empty((3, len(ids)), np.uint64)
    digests[0], digests[1], digests[2] = ids, features, digest_rows(matrix, ids)
    return digests


def earlier_versions(root: Path, own: HopFolder, columns: int) -> list[HopFolder]:
    """Return the folders whose rows can be compared with those of the folder ``own``, the last used first.

    One with the same key is that of the same graph under another name.
    """
    comparable = [
        folder
        for folder in map(read_folder, folders(root))
        if folder is not None
        and folder.path != own.path
        and all(folder.key.get(field) == own.key[field] for field in SAME)
    ]
    comparable.sort(key=lambda folder: folder.last_use(), reverse=True)
    return [
        folder
        for folder in comparable[:COMPARED]
        if any(NODE_DIGESTS in hop and hop["shape"][1] == columns for hop in folder.hops().values())
    ]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A graph compared with an earlier version, whose hops are in ``folder``.

    ``positions`` are those of the nodes in the earlier version. Masks tell whose features, or whose row of the matrix,
    changed; those of a new node did.
    """

    folder: HopFolder
    positions: Array
    features_changed: Mask
    entries_changed: Mask

    def unchanged_rows(self, matrix: Matrix, last: int) -> dict[int, Mask]:
        """Return, for each power up to ``last`` that can be copied, which rows are the same."""
        from sign.graph.digest_kernels import mark_readers

        csr, changed, unchanged = matrix.csr, self.features_changed, {}
        stored = self.folder.hops()
        for power in range(1, last + 1):
            readers = self.entries_changed.copy()
            for bounds in csr.blocks():
                mark_readers(csr.indptr, csr.indices, matrix.self_loop != 0, bounds, changed, readers)
            changed = readers
            if NODE_DIGESTS in stored.get(power, ()):
                unchanged[power] = ~changed
        return unchanged

    def known_rows(self, power: int, nodes: Array) -> KnownRows:
        """Return the stored rows of some nodes."""
        return KnownRows(nodes, self.folder.open(power), self.positions[nodes])


def most_similar(versions: list[HopFolder], digests: Digests) -> Comparison | None:
    """Return the comparison with the version in which the most nodes are unchanged; None if there are none."""
    best, most = None, 0
    for folder in versions:
        comparison = _compare(folder, digests)
        if comparison is not None:
            changed = comparison.features_changed | comparison.entries_changed
            if (unchanged := int(np.count_nonzero(~changed))) > most:
                best, most = comparison, unchanged
    return best


def _compare(folder: HopFolder, digests: Digests) -> Comparison | None:
    earlier = folder.node_digests()
    if earlier is None:
        return None
    ids, features, rows = digests
    positions = _positions(earlier[0], ids)
    new = earlier[0][positions] != ids
    comparison = Comparison(
        folder, positions, new | (earlier[1][positions] != features), new | (earlier[2][positions] != rows)
    )
    arrays.release(earlier)
    return comparison


def _positions(earlier: Digests, ids: Digests) -> Array:
    """Return where each id is in the earlier version; any position for a new one."""
    common = min(len(earlier), len(ids))
    if (earlier[:common] == ids[:common]).all():  # the usual case, nodes were appended: nothing has to be sorted
        return np.minimum(np.arange(len(ids)), common - 1)
    order = np.argsort(earlier)
    places = np.searchsorted(earlier, ids, sorter=order)
    return np.asarray(order[np.minimum(places, len(order) - 1)])
