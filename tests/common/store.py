"""Hops for tests of the store."""

from sign.graph.csr import Array
from sign.store.store import HopFolder


def write_hop(folder: HopFolder, power: int, array: Array, seconds: float = 0) -> Array:
    """Store an array as a hop, and open it."""
    with folder.draft(power, array.shape) as draft:
        draft.write(slice(None), array)
        draft.commit(seconds, 0)
    return folder.open(power)
