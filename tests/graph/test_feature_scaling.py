"""Scaled features have the properties that the names promise, fitted on the training nodes only."""

from dataclasses import replace

import numpy as np
import pytest

from sign.graph.feature_scaling import FeatureScaling, choose_scaling, scale_hop_rows
from sign.graph.graph import Graph
from sign.graph.profile import Profile
from sign.testing import path


@pytest.fixture
def graph() -> Graph:
    features = np.random.default_rng(0).normal(3, 2, (20, 4)).astype(np.float32)
    features[:, 2] = 5  # constant
    features[7] = 0
    split = {"train": np.arange(12), "val": np.arange(12, 16), "test": np.arange(16, 20)}
    return replace(path(20), features=features, **split)


def test_standardized_training_rows_have_mean_0_and_variance_1(graph: Graph) -> None:
    scaling = FeatureScaling.fit("standardize", graph)
    scaled = scaling.apply(graph.features)
    train = scaled[graph.train].astype(np.float64)
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(np.delete(train, 2, axis=1).var(axis=0), 1, rtol=1e-5)
    assert scaled.dtype == np.float32


def test_a_constant_column_becomes_zero(graph: Graph) -> None:
    constant = replace(graph, features=np.full((20, 2), 5, np.float32))
    assert (FeatureScaling.fit("standardize", constant).apply(constant.features) == 0).all()


def test_held_out_nodes_do_not_change_the_scaling(graph: Graph) -> None:
    changed = graph.features.copy()
    changed[12:] += 100
    ours, theirs = (FeatureScaling.fit("standardize", each) for each in (graph, replace(graph, features=changed)))
    assert ours.fingerprint == theirs.fingerprint
    changed = graph.features + 1
    assert ours.fingerprint != FeatureScaling.fit("standardize", replace(graph, features=changed)).fingerprint


def test_rows_are_divided_by_their_absolute_sum(graph: Graph) -> None:
    scaled = FeatureScaling.fit("row_sum", graph).apply(graph.features)
    np.testing.assert_allclose(np.delete(np.abs(scaled).sum(axis=1), 7), 1, rtol=1e-5)
    assert (scaled[7] == 0).all()


@pytest.mark.parametrize("method", ["none", "row_sum", "standardize"])
def test_columns_can_be_scaled_separately(graph: Graph, method: str) -> None:
    scaling = FeatureScaling.fit(method, graph)
    whole = scaling.apply(graph.features)
    for columns in (slice(0, 1), slice(1, 4)):
        assert (scaling.apply(graph.features, columns) == whole[:, columns]).all()


def test_hop_rows_get_unit_length_and_zero_rows_stay() -> None:
    rows = np.array([[3, 4], [0, 0], [-2, 0]], np.float32)
    untouched = rows.copy()
    scale_hop_rows(untouched, "none")
    assert (untouched == rows).all()
    scale_hop_rows(rows, "l2")
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [-1, 0]], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-44, 1e-24, 1e-15, 1, 1e18, 1e20, 3e38])
def test_rows_of_any_magnitude_get_unit_length(scale: float) -> None:
    rows = (np.array([[1, -1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]) * scale).astype(np.float32)
    scale_hop_rows(rows, "l2")
    np.testing.assert_allclose(rows, [[0.5**0.5, -(0.5**0.5), 0, 0], [0] * 4, [0.5] * 4], rtol=1e-6)


def test_unit_length_of_ordinary_rows_is_the_plain_formula_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(500, 30)) * 10.0 ** rng.uniform(-12, 17, (500, 1))).astype(np.float32)
    plain = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    rows[::7] *= np.float32(1e-30)  # beside rows that are not ordinary
    scale_hop_rows(rows, "l2")
    ordinary = np.arange(500) % 7 > 0
    assert (rows[ordinary] == plain[ordinary]).all()


def test_row_sums_beyond_float32_are_summed_in_double(graph: Graph) -> None:
    rows = np.array([[3e38, -3e38], [1e-44, 1e-44], [0.1, 0.3]], np.float32)
    scaled = FeatureScaling.fit("row_sum", graph).apply(rows)
    np.testing.assert_allclose(scaled, [[0.5, -0.5], [0.5, 0.5], [0.25, 0.75]], rtol=1e-6)
    assert (scaled[2] == rows[2] / np.abs(rows[2]).sum()).all()


@pytest.mark.parametrize("scale", [1e-44, 1e-38, 1e30, 3e38])
def test_columns_of_any_magnitude_are_standardized(graph: Graph, scale: float) -> None:
    features = np.ones((20, 2), np.float32)
    features[::2] = -1
    features[:, 0] *= np.float32(scale)
    scaled = FeatureScaling.fit("standardize", replace(graph, features=features)).apply(features)
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(scaled[:, 0], scaled[:, 1], rtol=1e-5)
    np.testing.assert_allclose(np.abs(scaled), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("features", "density", "signed", "ratio", "method"),
    [
        (1433, 0.01, False, 1, "row_sum"),  # words
        (745, 0.35, False, 1, "row_sum"),
        (30, 0.2, False, 100, "standardize"),  # an age and an income beside one-hot columns
        (128, 1, True, 3, "none"),  # an embedding
        (5, 1, True, 3, "standardize"),  # measurements
        (5, 1, False, 3, "standardize"),
        (128, 1, True, 1000, "standardize"),
    ],
)
def test_the_method_is_chosen_by_the_kind_of_the_features(
    features: int, density: float, signed: bool, ratio: float, method: str
) -> None:
    profile = Profile(100, 2, False, features, density, signed, ratio)
    assert choose_scaling(profile) == method
