"""What stands for the content of arrays."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sign.system import arrays

HASHED = 1 << 24  # bytes that are hashed at a time; part of every fingerprint


def digest(*contents: NDArray[Any] | None) -> str:
    """A fingerprint of the contents, shapes and types of arrays: a hash of the hashes of their parts."""
    state = hashlib.blake2b(digest_size=16)
    with ThreadPoolExecutor() as pool:
        for array in contents:
            state.update(repr(None if array is None else (array.dtype.str, array.shape)).encode())
            if array is not None and array.size:
                for part in pool.map(
                    lambda part, a=array: _hash(a[part]), arrays.chunk_slices(array, HASHED)
                ):
                    state.update(part)
    return state.hexdigest()


def _hash(part: NDArray[Any]) -> bytes:
    found = hashlib.blake2b(np.ascontiguousarray(part).view(np.uint8).data, digest_size=16).digest()
    arrays.release(part)
    return found
