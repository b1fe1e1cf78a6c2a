"""Personalised PageRank: solve is the formula, push approaches it."""

import numpy as np
import pytest
import torch
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, normalized, row_normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.cora import Cora
from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.graph.csr_transforms import add_self_loops
from sign.graph.graph import Graph
from sign.operators.ppr import PersonalizedPageRank
from sign.testing import graph_of


def formula(graph: Graph, alpha: float) -> np.ndarray:
    """alpha (I - (1 - alpha) T)^-1 with rows normalised, by a dense inverse."""
    transition = normalized(dense_undirected(graph) + np.eye(graph.nodes))
    return row_normalized(alpha * np.linalg.inv(np.eye(graph.nodes) - (1 - alpha) * transition))


@given(graph=graphs(), alpha=st.sampled_from([0.01, 0.05, 0.3, 1.0]))
def test_solve_equals_the_dense_inverse(graph: Graph, alpha: float) -> None:
    ours = applied(PersonalizedPageRank(alpha=alpha, tolerance=1e-6), graph)
    np.testing.assert_allclose(ours, formula(graph, alpha), atol=1e-5)


@pytest.mark.slow
def test_solve_equals_the_dense_inverse_on_cora() -> None:
    graph = Cora().load()
    operator = PersonalizedPageRank(alpha=0.01)
    x = graph.features[:, :100]
    ours = operator.apply(operator.matrix(graph), x, LocalEngine().product)
    assert np.abs(ours - formula(graph, 0.01) @ x).max() < 5e-5


def test_the_number_of_products_is_that_of_conjugate_gradients_not_of_power_iteration() -> None:
    assert 75 <= PersonalizedPageRank(alpha=0.01, tolerance=1e-5).products <= 95
    assert 32 <= PersonalizedPageRank(alpha=0.05, tolerance=1e-5).products <= 42
    assert PersonalizedPageRank("push").products == 1


@pytest.mark.slow
@given(graph=graphs())
def test_push_approaches_the_formula(graph: Graph) -> None:
    ours = applied(PersonalizedPageRank("push", alpha=0.2, epsilon=1e-6), graph)
    np.testing.assert_allclose(ours, formula(graph, 0.2), atol=1e-4)


@pytest.mark.parametrize("method", ["solve", "push"])
@given(graph=graphs())
def test_rows_are_averages_and_renumbering_renumbers(method: str, graph: Graph) -> None:
    operator = PersonalizedPageRank(method, alpha=0.1, epsilon=1e-6, tolerance=1e-6)
    matrix = applied(operator, graph)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
    assert matrix.min() > -1e-6
    assert_equivariant(operator, graph, tolerance=1e-4)


@pytest.mark.parametrize("method", ["solve", "push"])
def test_isolated_nodes_and_components_keep_to_themselves(method: str) -> None:
    graph = graph_of([(0, 1), (2, 3)], 5)
    matrix = applied(PersonalizedPageRank(method, alpha=0.05, epsilon=1e-6), graph)
    np.testing.assert_allclose(matrix[4], [0, 0, 0, 0, 1], atol=1e-5)
    np.testing.assert_allclose(matrix[:2, 2:], 0, atol=1e-5)


def test_push_has_the_entries_of_gdc_with_the_same_threshold() -> None:
    """The order of pushes decides which small entries appear, so both get neighbours in the same order."""
    from torch_geometric import EdgeIndex
    from torch_geometric.utils import get_ppr

    graph = Communities(nodes=400, edges=1600).load()
    looped = add_self_loops(graph.adjacency)
    pairs = torch.from_numpy(np.stack([looped.row_indices(), looped.indices]).astype(np.int64))
    edges = EdgeIndex(pairs, sparse_size=(graph.nodes, graph.nodes), sort_order="row")
    index, weight = get_ppr(edges, alpha=0.1, eps=1e-3, num_nodes=graph.nodes)
    theirs = np.zeros((graph.nodes, graph.nodes))
    theirs[index[0].numpy(), index[1].numpy()] = weight.numpy()
    degrees = looped.row_sums
    theirs *= np.sqrt(degrees[:, None] / degrees[None, :])
    ours = PersonalizedPageRank("push", alpha=0.1, epsilon=1e-3).matrix(graph).to_scipy().toarray()
    assert ((ours > 0) == (theirs > 0)).all()
    np.testing.assert_allclose(ours, row_normalized(theirs), atol=1e-6)


@pytest.mark.slow
def test_push_of_many_entries_a_node() -> None:
    """More than first fits into the arrays of a chunk."""
    graph = Cora().load()
    operator = PersonalizedPageRank("push", alpha=0.05, epsilon=1e-4)
    pushed = operator.matrix(graph).csr
    assert pushed.entries > 1_000_000
    assert (np.diff(pushed.indptr) > 0).all()
    np.testing.assert_allclose(pushed.row_sums, 1, atol=1e-4)
    coarse = PersonalizedPageRank("push", alpha=0.05, epsilon=1e-3).matrix(graph)
    exact = formula(graph, 0.05)
    fine_error, coarse_error = (
        np.abs(matrix.to_scipy().toarray() - exact).sum(axis=1).mean() for matrix in (pushed, coarse)
    )
    assert fine_error < 0.5 < coarse_error < 1.5


def test_push_can_be_cut_to_the_largest_weights() -> None:
    graph = Communities(nodes=300, edges=1200).load()
    full = PersonalizedPageRank("push", alpha=0.1, epsilon=1e-4).matrix(graph).to_scipy().toarray()
    top = PersonalizedPageRank("push", alpha=0.1, epsilon=1e-4, top_k=5).matrix(graph).to_scipy().toarray()
    assert ((top > 0).sum(axis=1) <= 5).all()
    assert ((top > 0).sum(axis=1) == 5).mean() > 0.9
    np.testing.assert_allclose(top.sum(axis=1), 1, atol=1e-5)
    kept = np.where(top > 0, full, 0)
    np.testing.assert_allclose(kept.sum(axis=1), np.sort(full, axis=1)[:, -5:].sum(axis=1), atol=1e-5)
    star = graph_of([(6, leaf) for leaf in range(6)], 7)  # six weights are equal, the source's is larger
    for k in (1, 4, 6):
        row = PersonalizedPageRank("push", alpha=0.5, epsilon=1e-2, top_k=k).matrix(star).to_scipy().toarray()[6]
        assert (row > 0).sum() == k
        assert row.argmax() == 6
    alone = PersonalizedPageRank("push", alpha=0.5, threshold=0.99).matrix(star).to_scipy().toarray()
    assert (alone == np.eye(7)).all()
    cut = PersonalizedPageRank("push", alpha=0.1, epsilon=1e-4, threshold=0.01).matrix(graph).to_scipy()
    assert cut.nnz < (full > 0).sum()


def test_the_restart_probability_is_the_papers() -> None:
    operator = PersonalizedPageRank()
    assert operator.resolve(False).alpha == 0.05
    assert operator.resolve(True).alpha == 0.01
    assert PersonalizedPageRank(alpha=0.3).resolve(False).alpha == 0.3
