"""Arrays and sparse matrices of other types, with sizes that are declared but not there, and with pickles."""

import io
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from faults.graph_case import Case, Hostile, Must, replaced
from faults.graph_files import EDGES, FEATURES, NODES, write_npy, write_npz


def header(shape: tuple[int, ...], dtype: str = "<f4", extra: str = "") -> bytes:
    """Return the header of a .npy file whose array is missing."""
    content = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}{extra}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(content)) + content.encode()


def array_cases() -> Iterator[Case]:
    """Arrays of other types, shapes and byte orders, with declared sizes that are not there, and pickles."""
    edges, features = np.array(EDGES), FEATURES
    loads = {f"{kind} edges": {"edges_npy": edges.astype(kind)} for kind in ("i1", "u1", "i4", "u8")}
    loads |= {f"{kind} features": {"features_npy": features.astype(kind)} for kind in ("f2", "f4", ">f4", ">f8", "i8")}
    loads["Fortran order"] = {"features_npy": np.asfortranarray(features), "edges_npy": np.asfortranarray(edges)}
    for name, files in loads.items():
        yield Case("arrays", name, replaced(write_npy, **files), "load")
    objects = np.array([Hostile()] * NODES, object)
    damaged = {
        "big-endian edges": {"edges_npy": edges.astype(">i4")},
        "float edges": {"edges_npy": edges.astype(float)},
        "boolean edges": {"edges_npy": edges > 3},
        "edges of three columns": {"edges_npy": np.c_[edges, edges[:, 0]]},
        "flat edges": {"edges_npy": edges.ravel()},
        "two edges": {"edges_npy": edges[:2]},
        "an edge to node 12": {"edges_npy": np.vstack([edges, [0, NODES]])},
        "an edge to node -1": {"edges_npy": np.vstack([edges, [0, -1]])},
        "an edge to node 2^40": {"edges_npy": np.vstack([edges, [0, 2**40]])},
        "complex features": {"features_npy": features.astype(complex)},
        "text as features": {"features_npy": features.astype(str)},
        "NaN": {"features_npy": np.where(features > 1, np.nan, features)},
        "infinity": {"features_npy": np.where(features > 1, np.inf, features)},
        "1e300": {"features_npy": np.where(features > 1, 1e300, features)},
        "flat features": {"features_npy": features[:, 0]},
        "no columns": {"features_npy": features[:, :0]},
        "too few rows": {"features_npy": features[:-1]},
        "a number": {"features_npy": np.array(3.0)},
        "a structured array": {"features_npy": np.zeros(NODES, "f4,i4")},
        "a pickled array": {"features_npy": objects},
        "pickled labels": {"labels_npy": objects},
        "a bare pickle": {"features_npy": pickle.dumps(Hostile())},
        "10^12 declared rows": {"features_npy": header((10**12, 3)) + bytes(144)},
        "2^62 declared columns": {"features_npy": header((12, 2**62)) + bytes(144)},
        "10^12 declared labels": {"labels_npy": header((10**12,), "<i8") + bytes(96)},
        "10^12 declared edges": {"edges_npy": header((2, 10**12), "<i8") + bytes(96)},
        "a negative size": {"features_npy": header((-12, 3)) + bytes(144)},
        "a type of 2 GB": {"labels_npy": header((12,), "<U500000000") + bytes(96)},
        "code in the header": {"features_npy": header((12, 3), extra=", 'x': __import__('os').mkdir('executed')")},
        "a header of 65,000 brackets": {"features_npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 65000) + b"(" * 65000},
        "version 9 of the format": {"features_npy": b"\x93NUMPY\x09\x00" + bytes(100)},
    }
    for name, files in damaged.items():
        yield Case("arrays", name, replaced(write_npy, **files))


def npz(**members: Any) -> bytes:
    """Return a .npz file of arrays, or of bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, member in members.items():
            if not isinstance(member, bytes):
                content = io.BytesIO()
                np.lib.format.write_array(content, np.asanyarray(member), allow_pickle=True)
                member = content.getvalue()
            archive.writestr(f"{name}.npy", member)
    return stream.getvalue()


def sparse_cases() -> Iterator[Case]:
    """Sparse matrices of other formats, with wrong indices, declared sizes, archives that expand, and pickles."""
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(np.where(FEATURES > 0, FEATURES, 0))
    good = {"indices": matrix.indices, "indptr": matrix.indptr, "format": b"", "shape": matrix.shape}
    good |= {"data": matrix.data, "format": np.array(b"csr")}
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        stream = io.BytesIO()
        scipy.sparse.save_npz(stream, matrix.asformat(form))
        must: Must = "load" if form in ("csr", "csc", "coo") else "either"
        yield Case("sparse features", form, replaced(write_npz, features_npz=stream.getvalue()), must)
    damaged: dict[str, dict[str, Any]] = {
        "an index beyond the columns": {"indices": matrix.indices + 3},
        "a negative index": {"indices": matrix.indices - 3},
        "unsorted row pointers": {"indptr": matrix.indptr[::-1]},
        "row pointers beyond the entries": {"indptr": matrix.indptr * 2},
        "too few entries": {"data": matrix.data[:-3]},
        "2^40 columns": {"shape": (NODES, 2**40)},
        "2^62 columns": {"shape": (NODES, 2**62)},
        "2^40 rows": {"shape": (2**40, 3)},
        "a negative shape": {"shape": (-NODES, 3)},
        "three dimensions": {"shape": (NODES, 3, 1)},
        "complex numbers": {"data": matrix.data.astype(complex)},
        "NaN": {"data": np.full(len(matrix.data), np.nan)},
        "an unknown format": {"format": np.array(b"xyz")},
        "a pickled format": {"format": np.array(Hostile(), object)},
        "pickled data": {"data": np.array([Hostile()] * len(matrix.data), object)},
        "10^12 declared entries": {"data": header((10**12,), "<f8") + bytes(64)},
        "an archive that expands to 1 GB": {
            "data": header((2**27,), "<f8") + bytes(2**30),
            "indices": np.zeros(8, np.int32),
        },
        "no row pointers": {"indptr": None},
        "float indices": {"indices": matrix.indices.astype(float)},
        "duplicate entries": {"indices": np.zeros_like(matrix.indices)},
    }
    for name, changes in damaged.items():
        # built when it is written: one of them is large
        def write(folder: Path, changes: dict[str, Any] = changes) -> Path:
            members = {key: value for key, value in (good | changes).items() if value is not None}
            return replaced(write_npz, features_npz=npz(**members))(folder)

        yield Case("sparse features", name, write)
    yield Case(
        "sparse features", "not an archive", replaced(write_npz, features_npz=b"PK\x03\x04" + bytes(99)), "refuse"
    )
    yield Case("sparse features", "an empty archive", replaced(write_npz, features_npz=npz()), "refuse")
