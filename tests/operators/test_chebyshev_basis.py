"""Chebyshev polynomials of the adjacency equal those of its eigenvalues, however many of them are computed at once."""

from collections.abc import Callable

import numpy as np
from common.bases import assert_basis
from common.graphs import graphs
from hypothesis import given
from scipy.special import eval_chebyt

from sign.config.settings import Settings
from sign.graph.graph import Graph
from sign.operators.chebyshev_basis import ChebyshevBasis


@given(graph=graphs())
def test_hops_equal_the_dense_polynomials(graph: Graph) -> None:
    assert_basis(ChebyshevBasis(), graph, eval_chebyt)


def test_hops_that_are_added_later_equal_those_computed_at_once(configured: Callable[..., Settings]) -> None:
    data = ("dataset=communities", "dataset.nodes=200", "dataset.edges=600", "operator@model.operators.p=chebyshev")
    stores = "paths.store_dir=${paths.output_dir}/other", "paths.store_dir=${paths.output_dir}/one"
    configured(*data, "model.p=2", stores[0]).precomputation.run()
    later, at_once = (configured(*data, "model.p=4", store).precomputation.run()[1] for store in stores)
    assert (later.computed, later.found) == (2, 3)
    for split, arrays in later.arrays.items():
        for ours, theirs in zip(arrays, at_once.arrays[split], strict=True):
            np.testing.assert_array_equal(ours, theirs)
