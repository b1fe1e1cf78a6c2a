"""Sparse matrices of scipy are read as they are, or refused before anything of their claimed size is allocated."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from sign.datasets.custom.sparse_arrays import sparse_features
from sign.errors import SignError


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_features_equal_the_saved_matrix(tmp_path: Path, form: str) -> None:
    matrix = scipy.sparse.random_array((5, 7), density=0.4, rng=np.random.default_rng(0), format=form)
    scipy.sparse.save_npz(tmp_path / "x.npz", matrix)
    features = sparse_features(tmp_path / "x.npz", 5)
    assert features.shape == (5, 7)
    np.testing.assert_array_equal(features[:], matrix.toarray().astype(np.float32))


def test_sparse_features_of_another_format_type_or_size_are_refused(tmp_path: Path) -> None:
    file, matrix = tmp_path / "x.npz", scipy.sparse.eye_array(4, format="csr")
    for wrong, nodes, message in (
        (matrix.todia(), 4, "contains a matrix in the format dia; save it as csr, csc, coo"),
        (matrix.astype(complex), 4, r"cannot be read as a sparse matrix of scipy .data is complex128"),
        (matrix, 3, "has 4 rows for 3 nodes; write one row per node"),
    ):
        scipy.sparse.save_npz(file, wrong)
        with pytest.raises(SignError, match=f"x.npz: {message}"):
            sparse_features(file, nodes)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_matrix_with_too_many_columns_is_refused(tmp_path: Path, form: str) -> None:
    file, size = tmp_path / "x.npz", 2**40
    if form == "csc":  # which would need an indptr of this size
        np.savez(file, format=form, shape=(3, size), data=[1.0], indices=[0], indptr=[0, 1])
    else:
        matrix = scipy.sparse.coo_array(([1.0], ([0], [size - 1])), shape=(3, size))
        scipy.sparse.save_npz(file, matrix.asformat(form))
    with pytest.raises(SignError, match=r"x.npz: has 1,099,511,627,776 columns; features have at most 1,048,576"):
        sparse_features(file, 3)


def header(shape: tuple[int, ...], dtype: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize("name", ["shape", "data", "indices", "indptr"])
def test_an_array_that_claims_more_than_the_file_contains_is_refused(tmp_path: Path, name: str) -> None:
    arrays: dict[str, Any] = {"shape": (3, 2), "data": [1.0], "indices": [0], "indptr": [0, 1, 1, 1]}
    np.savez(tmp_path / "x.npz", format="csr", **{key: value for key, value in arrays.items() if key != name})
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr(f"{name}.npy", header((2**40,), "<f8" if name == "data" else "<i8"))
    with pytest.raises(
        SignError, match=rf"cannot be read as a sparse matrix of scipy \({name} has 0 bytes .*write it again"
    ):
        sparse_features(tmp_path / "x.npz", 3)
