"""What can be trained on, and the scaling of its features."""

from dataclasses import replace

import numpy as np
import pytest

from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.feature_scaling import FeatureScaling
from sign.testing import path


def test_a_graph_without_training_nodes_can_be_scored_but_not_trained_on() -> None:
    graph = replace(path(3), train=np.empty(0, np.int64))
    with pytest.raises(SignError, match="the train split is empty"):
        classification_of(graph)


def test_the_scaling_of_a_trained_model_is_not_fitted_again() -> None:
    graph = path(3)
    width = graph.features.shape[1]
    scaling = FeatureScaling("standardize", np.full(width, 5, np.float32), np.full(width, 2, np.float32))
    classification = classification_of(graph, scaling)
    assert classification.feature_scaling is scaling
    assert classification.scopes[0].source["scaling"] == scaling.fingerprint
    assert classification_of(graph, "standardize").feature_scaling.fingerprint != scaling.fingerprint


@pytest.mark.parametrize("method", ["none", "row_sum", "standardize"])
def test_a_scaling_is_described_in_plain_values(method: str) -> None:
    scaling = FeatureScaling.fit(method, path(3))
    again = FeatureScaling.from_plain(scaling.to_plain())
    assert again.fingerprint == scaling.fingerprint
