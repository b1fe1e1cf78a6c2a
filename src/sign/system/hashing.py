"""Content hashes of arrays."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sign.system import arrays

CHUNK_BYTES = 1 << 24  # hashed at a time; changing it changes every digest


def digest(*contents: NDArray[Any] | None) -> str:
    """Hash the content, shape and type of arrays: a hash of the hashes of their chunks."""
    state = hashlib.blake2b(digest_size=16)
    with ThreadPoolExecutor() as pool:
        for array in contents:
            state.update(repr(None if array is None else (array.dtype.str, array.shape)).encode())
            if array is not None and array.size:
                chunks = (array[part] for part in arrays.chunk_slices(array, CHUNK_BYTES))
                for chunk_hash in pool.map(_hash, chunks):
                    state.update(chunk_hash)
    return state.hexdigest()


def file_digest(*files: Path | None) -> str:
    """Return a hash of the contents of files, in their order; None stands for a file that is absent."""
    state = hashlib.blake2b(digest_size=16)
    for file in files:
        if file is None:
            state.update(b"absent")
        else:
            with file.open("rb") as stream:
                state.update(hashlib.file_digest(stream, "blake2b").digest())
    return state.hexdigest()


def _hash(chunk: NDArray[Any]) -> bytes:
    content = np.ascontiguousarray(chunk).view(np.uint8).data
    chunk_hash = hashlib.blake2b(content, digest_size=16).digest()
    arrays.release(chunk)
    return chunk_hash
