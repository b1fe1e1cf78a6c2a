"""Files of numpy are located by name and converted to float32, or refused with the reason."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from sign.datasets.custom.arrays import MAX_COLUMNS, check_rows, dense_features, find_file, read_array
from sign.datasets.custom.sparse_arrays import sparse_features
from sign.errors import SignError

ENDINGS = (".npy", ".npz")


def save(file: Path, array: np.ndarray) -> Path:
    np.save(file, array)
    return file


def test_a_file_is_found_by_its_conventional_name_or_by_its_setting(tmp_path: Path) -> None:
    assert find_file(tmp_path, "features", None, ENDINGS) is None
    file, other = tmp_path / "features.npz", tmp_path / "other.npy"
    file.touch()
    other.touch()
    assert find_file(tmp_path, "features", None, ENDINGS) == file
    assert find_file(tmp_path, "features", "other.npy", ENDINGS) == other
    assert find_file(tmp_path, "features", str(other), ENDINGS) == other


def test_the_setting_of_a_file_must_fit_and_exist(tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"dataset.features=x.csv: must end with .npy or .npz"):
        find_file(tmp_path, "features", "x.csv", ENDINGS)
    with pytest.raises(SignError, match=r"dataset.features=x.npy: there is no file .*x.npy"):
        find_file(tmp_path, "features", "x.npy", ENDINGS)


def test_two_files_of_conventional_names_are_ambiguous_unless_a_setting_selects_one(tmp_path: Path) -> None:
    for ending in ENDINGS:
        (tmp_path / f"features{ending}").touch()
    with pytest.raises(
        SignError, match=r"has features.npy and features.npz; keep one, or select one with dataset.feat"
    ):
        find_file(tmp_path, "features", None, ENDINGS)
    assert find_file(tmp_path, "features", "features.npz", ENDINGS) == tmp_path / "features.npz"


@pytest.mark.parametrize("array", [np.arange(3), np.array([True, False]), np.array(["a", "bc"]), np.ones((2, 2))])
def test_numbers_and_text_are_read(tmp_path: Path, array: np.ndarray) -> None:
    found = read_array(save(tmp_path / "a.npy", array))
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize("array", [np.array([1j]), np.array(["2020-01-01"], "datetime64[D]"), np.array([b"a"])])
def test_arrays_of_other_types_are_refused(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(SignError, match=r"a.npy: contains .*; save numbers or text"):
        read_array(save(tmp_path / "a.npy", array))


def test_a_truncated_array_is_refused(tmp_path: Path) -> None:
    file = save(tmp_path / "a.npy", np.arange(1000))
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(SignError, match=r"a.npy: cannot be read as a numpy array \(.*\); write it again"):
        read_array(file)


def test_dense_features_become_float32_and_are_copied_only_if_they_are_not() -> None:
    ready = np.ones((2, 3), np.float32)
    assert dense_features(ready, Path("x.npy")) is ready
    for dtype in (np.float64, np.int8, np.bool_):
        converted = dense_features(np.eye(3, dtype=dtype), Path("x.npy"))
        assert converted.dtype == np.float32
        assert converted.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("array", [np.ones(3), np.ones((2, 2, 2)), np.array([["a"]])])
def test_features_that_are_no_matrix_of_numbers_are_refused(array: np.ndarray) -> None:
    with pytest.raises(
        SignError, match=r"x.npy: contains .* of shape .*; features must be numbers, \(nodes, columns\)"
    ):
        dense_features(array, Path("x.npy"))


def test_one_row_per_node_passes() -> None:
    check_rows(3, 3, Path("x.npy"))


def test_more_columns_than_a_hop_can_have_are_refused() -> None:
    wide = np.broadcast_to(np.zeros(1, np.float32), (3, MAX_COLUMNS + 1))
    with pytest.raises(SignError, match=r"x.npy: has 1,048,577 columns; features have at most 1,048,576"):
        dense_features(wide, Path("x.npy"))


@pytest.mark.filterwarnings("default")
def test_a_size_beyond_any_memory_is_refused_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (12, 2**62)})
    with pytest.raises(SignError, match=r"a.npy: cannot be read as a numpy array"):
        read_array(tmp_path / "a.npy")
    assert not recwarn.list


@pytest.mark.parametrize("dtype", ["<i8", "<U0"])
def test_a_size_that_the_file_only_claims_is_refused(tmp_path: Path, dtype: str) -> None:
    header = {"descr": dtype, "fortran_order": False, "shape": (2**40,)}
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
    with pytest.raises(SignError, match=r"a.npy: c(annot be read as a numpy array|ontains 1099511627776 empty texts)"):
        read_array(tmp_path / "a.npy")


@pytest.mark.parametrize(("value", "kind"), [(1e-60, "zero"), (-1e60, "infinite")])
def test_features_that_float32_cannot_hold_are_refused(value: float, kind: str, tmp_path: Path) -> None:
    rows = np.array([[1.0, value], [value, 0.0]])
    message = f"has {abs(value):.3g} as its largest value, which is {kind} in float32"
    with pytest.raises(SignError, match=message.replace("+", r"\+")):
        dense_features(rows, tmp_path / "features.npy")
    file = tmp_path / "features.npz"
    scipy.sparse.save_npz(file, scipy.sparse.csr_array(np.array([[value], [0.0]])))
    with pytest.raises(SignError, match=message.replace("+", r"\+")):
        sparse_features(file, 2)


def test_small_values_beside_larger_ones_are_rounded(tmp_path: Path) -> None:
    rows = np.array([[1.0, 1e-60], [0.0, np.nan]])
    assert (dense_features(rows, tmp_path)[:, 0] == [1, 0]).all()
