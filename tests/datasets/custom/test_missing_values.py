"""Missing values are refused by name, or filled from the training nodes alone."""

import numpy as np
import pytest
import scipy.sparse

from sign.datasets.custom.missing_values import fill_missing
from sign.errors import SignError
from sign.graph.features import Features, SparseFeatures

NAMES, IDS = ("age", "income"), np.array(["ann", "bob", "eve", "tom"])
DENSE = np.array([[1, np.nan], [3, 6], [np.nan, 100], [np.nan, np.nan]], np.float32)
TRAIN = np.array([0, 1])


def sparse(matrix: np.ndarray) -> SparseFeatures:
    csr = scipy.sparse.csr_array(matrix)
    return SparseFeatures(csr.indptr.astype(np.int64), csr.indices, matrix.shape[1], csr.data)


@pytest.mark.parametrize("features", [DENSE, sparse(DENSE)])
@pytest.mark.parametrize(("fill", "values"), [("mean", [2, 6]), ("zero", [0, 0])])
def test_missing_values_are_filled_from_the_training_nodes(
    features: Features, fill: str, values: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    filled, means = fill_missing("g", features, fill, TRAIN, NAMES, IDS)
    assert means == (tuple(values) if fill == "mean" else ())
    assert type(filled) is type(features)
    np.testing.assert_array_equal(filled[:], np.where(np.isnan(DENSE), values, DENSE))
    assert "g: missing values of features: 4, filled with" in caplog.text
    assert np.isnan(features[:]).sum() == 4, "the input has changed"


def test_values_of_held_out_nodes_do_not_matter() -> None:
    changed = DENSE.copy()
    changed[2, 1] = -5
    one, two = (fill_missing("g", features, "mean", TRAIN, NAMES, IDS)[0] for features in (DENSE, changed))
    np.testing.assert_array_equal(one[TRAIN], two[TRAIN])


@pytest.mark.parametrize("features", [DENSE, sparse(DENSE)])
def test_missing_values_are_refused_by_name(features: Features) -> None:
    with pytest.raises(
        SignError, match=r"g: feature `income` of node `ann` is nan; fill missing values with dataset.fill="
    ):
        fill_missing("g", features, None, TRAIN, NAMES, IDS)
    with pytest.raises(SignError, match=r"dataset.fill=mean: no training node has a value of feature `income`"):
        fill_missing("g", features, "mean", np.array([0]), NAMES, IDS)


@pytest.mark.parametrize("features", [np.eye(2, dtype=np.float32), SparseFeatures(np.arange(3), np.arange(2), 2)])
def test_complete_features_are_returned_as_they_are(features: Features) -> None:
    filled, means = fill_missing("g", features, "mean", np.array([0]), (), None)
    assert filled is features
    assert means == (1.0, 0.0)  # for graphs that the model is used on


def test_the_means_of_a_trained_model_fill_another_graph() -> None:
    filled, means = fill_missing("g", DENSE, "mean", np.empty(0, np.int64), NAMES, IDS, [7.0, 8.0])
    np.testing.assert_array_equal(filled, np.where(np.isnan(DENSE), [7, 8], DENSE))
    assert means == (7.0, 8.0)
    with pytest.raises(SignError, match="g: has 2 features, but the model was trained on 1"):
        fill_missing("g", DENSE, "mean", TRAIN, NAMES, IDS, [7.0])
