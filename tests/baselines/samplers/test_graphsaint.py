"""GraphSAINT's probabilities are those of its paper, and its estimators are unbiased."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, count, product

import numpy as np
import pytest
from common.sampling import WHEEL, dense, follows, outcomes, random_matrix, row_normalized, same

from sign.baselines.samplers.batches import Subgraph
from sign.baselines.samplers.graphsaint import (
    PRE_SAMPLING,
    Normalization,
    SAINTEdgeSampler,
    SAINTNodeSampler,
    SAINTSampler,
    SAINTWalkSampler,
)
from sign.baselines.samplers.streams import stream
from sign.errors import SignError
from sign.graph.csr import CSR

KITE = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]
SMALL = row_normalized(KITE, 5)
DIRECTED = row_normalized([(0, 1), (1, 2), (2, 1), (2, 3), (4, 3), (3, 0)], 5, directed=True)
TARGETS = np.array([0, 2, 3])
Probabilities = dict[tuple[int, ...], float]


def small(kind: type[SAINTSampler], matrix: CSR = SMALL, **options: int) -> SAINTSampler:
    return kind(adjacency=matrix, targets=TARGETS, **options)


def by_nodes(matrix: CSR, draws: int) -> Probabilities:
    """The probability of each set of nodes, by the paper's probabilities of nodes."""
    squares = (matrix.to_scipy().toarray().astype(np.float64) ** 2).sum(axis=0)
    single = squares / squares.sum()
    return sums((set(drawn), np.prod(single[list(drawn)])) for drawn in product(range(matrix.nodes), repeat=draws))


def by_edges(matrix: CSR, draws: int) -> Probabilities:
    """The same by the paper's probabilities of edges, 1/deg(u) + 1/deg(v); a directed edge has one term."""
    pattern = matrix.to_scipy().toarray() > 0
    inverse = 1 / np.maximum(pattern.sum(axis=1), 1)
    weights = {
        (u, v): pattern[u, v] * inverse[u] + pattern[v, u] * inverse[v]
        for u, v in combinations(range(matrix.nodes), 2)
        if pattern[u, v] or pattern[v, u]
    }
    total = sum(weights.values())
    return sums(
        ({node for edge in drawn for node in edge}, np.prod([weights[edge] / total for edge in drawn]))
        for drawn in product(weights, repeat=draws)
    )


def by_walks(matrix: CSR, roots: int, length: int) -> Probabilities:
    """The same for uniform walks from uniform roots."""
    step = row_normalized_pattern(matrix)
    walks = [((root,), 1 / matrix.nodes) for root in range(matrix.nodes)]
    for _ in range(length):
        walks = [
            ((*walk, node), likely * step[walk[-1], node])
            for walk, likely in walks
            for node in np.flatnonzero(step[walk[-1]]).tolist()
        ]
    return sums(
        ({node for walk, _ in chosen for node in walk}, np.prod([likely for _, likely in chosen]))
        for chosen in product(walks, repeat=roots)
    )


def row_normalized_pattern(matrix: CSR) -> np.ndarray:
    pattern = matrix.to_scipy().toarray() > 0
    return pattern / np.maximum(pattern.sum(axis=1, keepdims=True), 1)


def sums(weighted: Iterable[tuple[set[int], float]]) -> Probabilities:
    found: Counter[tuple[int, ...]] = Counter()
    for nodes, likely in weighted:
        found[tuple(sorted(nodes))] += likely
    return {nodes: likely for nodes, likely in found.items() if likely}


def name_of(batch: Subgraph) -> tuple[int, ...]:
    return tuple(batch.nodes.tolist())


def normalization_of(matrix: CSR, expected: Probabilities) -> Normalization:
    """The normalisation by the probabilities of all subgraphs."""
    joint = np.zeros((matrix.nodes, matrix.nodes))
    for nodes, likely in expected.items():
        joint[np.ix_(nodes, nodes)] += likely
    single = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        alphas = joint[matrix.row_indices(), matrix.indices] / single[matrix.row_indices()]
        weights = np.where(alphas > 0, matrix.weights / alphas, 0)
        nodes = np.where(single > 0, 1 / single, 0)
    return Normalization(nodes, weights.astype(np.float32))


def check_unbiased(matrix: CSR, weighted: list[tuple[float, Subgraph]]) -> None:
    """Check the expectation of the loss, and of the rows of a subgraph given that it has them."""
    losses = np.random.default_rng(0).random(matrix.nodes)
    mean = sum(p * batch.loss_weights @ losses[batch.nodes[batch.targets]] for p, batch in weighted)
    np.testing.assert_allclose(mean, losses[TARGETS].mean(), rtol=1e-6)
    rows, included = np.zeros((matrix.nodes, matrix.nodes)), np.zeros(matrix.nodes)
    for p, batch in weighted:
        rows[batch.nodes] += p * dense(batch.block, batch.nodes, matrix.nodes)
        included[batch.nodes] += p
    sampled = included > 0
    given_row = rows[sampled] / included[sampled, None]
    np.testing.assert_allclose(given_row, matrix.to_scipy().toarray()[sampled], atol=1e-6)


CASES = [
    (small(SAINTNodeSampler, nodes_drawn=3), by_nodes(SMALL, 3)),
    (small(SAINTNodeSampler, DIRECTED, nodes_drawn=4), by_nodes(DIRECTED, 4)),
    (small(SAINTEdgeSampler, edges_drawn=2), by_edges(SMALL, 2)),
    (small(SAINTEdgeSampler, DIRECTED, edges_drawn=2), by_edges(DIRECTED, 2)),
    (small(SAINTWalkSampler, roots=2, length=2), by_walks(SMALL, 2, 2)),
]
NAMES = ["node", "node-directed", "edge", "edge-directed", "walk"]


@pytest.mark.parametrize(("sampler", "expected"), CASES, ids=NAMES)
def test_subgraphs_have_the_probabilities_of_the_paper_and_the_estimators_are_unbiased(
    sampler: SAINTSampler, expected: Probabilities
) -> None:
    normalization = normalization_of(sampler.adjacency, expected)
    found = outcomes(lambda key: sampler.sample(key, normalization), name_of, draws=8000)
    assert follows(found, expected)
    check_unbiased(sampler.adjacency, [(expected[name], batch) for name, (_, batch) in found.items()])


@pytest.mark.parametrize(("sampler", "expected"), CASES[:4], ids=NAMES[:4])
def test_closed_forms_are_exact(sampler: SAINTNodeSampler | SAINTEdgeSampler, expected: Probabilities) -> None:
    exact, enumerated = sampler.exact_normalization(), normalization_of(sampler.adjacency, expected)
    np.testing.assert_allclose(exact.nodes, enumerated.nodes, rtol=1e-6)
    np.testing.assert_allclose(exact.entries, enumerated.entries, rtol=1e-5)


def test_an_edge_is_likelier_between_nodes_of_low_degree() -> None:
    sampler = small(SAINTEdgeSampler, row_normalized(WHEEL, 7), edges_drawn=1)
    assert follows(outcomes(sampler.sample, name_of, draws=6000), by_edges(sampler.adjacency, 1))
    likely = by_edges(sampler.adjacency, 1)
    assert max(likely, key=likely.__getitem__) == (5, 6)


@pytest.mark.parametrize(("sampler", "expected"), CASES, ids=NAMES)
def test_estimated_normalization_is_exact_over_the_subgraphs_that_were_counted(
    sampler: SAINTSampler, expected: Probabilities
) -> None:
    normalization = sampler.estimated_normalization(20)
    batches: list[Subgraph] = []
    for i in count():
        batches.append(sampler.sample(stream(sampler.seed, PRE_SAMPLING, i), normalization))
        if sum(len(batch.nodes) for batch in batches) >= 20 * 5:
            break
    check_unbiased(sampler.adjacency, [(1 / len(batches), batch) for batch in batches])


def test_estimated_normalization_approaches_the_exact_one() -> None:
    sampler, expected = CASES[4]
    estimate, exact = sampler.estimated_normalization(4000), normalization_of(SMALL, expected)
    np.testing.assert_allclose(estimate.nodes, exact.nodes, rtol=0.05)
    np.testing.assert_allclose(estimate.entries, exact.entries, rtol=0.05)


def test_a_batch_is_the_induced_subgraph_and_without_normalization_has_its_entries() -> None:
    matrix = random_matrix(60, 300)
    sampler = SAINTWalkSampler(adjacency=matrix, targets=np.arange(0, 60, 3), roots=6, length=3)
    batch = sampler.sample(np.uint64(4))
    assert (np.diff(batch.nodes) > 0).all()
    expected = matrix.to_scipy()[batch.nodes][:, batch.nodes].toarray()
    np.testing.assert_array_equal(batch.block.to_scipy().toarray(), expected)
    assert (batch.nodes[batch.targets] % 3 == 0).all()
    np.testing.assert_allclose(batch.loss_weights, 1 / len(batch.targets))


def test_walks_end_where_there_is_no_neighbour() -> None:
    path = row_normalized([(0, 1), (1, 2)], 3, directed=True)
    sampler = SAINTWalkSampler(adjacency=path, targets=np.arange(3), roots=1, length=5)
    assert set(outcomes(sampler.sample, name_of, draws=50)) == {(0, 1, 2), (1, 2), (2,)}


@pytest.mark.parametrize(
    ("kind", "options", "batches"),
    [
        (SAINTNodeSampler, {"nodes_drawn": 8}, 8),
        (SAINTEdgeSampler, {"edges_drawn": 4}, 8),
        (SAINTWalkSampler, {"roots": 4, "length": 2}, 8),
        (SAINTWalkSampler, {"roots": 4, "length": 2, "batches": 3}, 3),
    ],
)
def test_threads_do_not_change_the_normalization_or_the_batches(
    kind: type[SAINTSampler], options: dict[str, int], batches: int
) -> None:
    sampler = kind(adjacency=random_matrix(60, 300), targets=np.arange(60), **options)
    alone, together = (sampler.estimated_normalization(5, threads) for threads in (1, 2))
    assert same(alone, together)
    first, second = (list(sampler.epoch(2, alone, threads)) for threads in (1, 2))
    assert same(first, second)
    assert len(first) == len(sampler) == batches


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SAINTNodeSampler, {"nodes_drawn": 0}, "nodes_drawn=0: must be an integer >= 1"),
        (SAINTEdgeSampler, {"edges_drawn": 0}, "edges_drawn=0: must be an integer >= 1"),
        (SAINTWalkSampler, {"roots": 0, "length": 2}, "roots=0: must be an integer >= 1"),
        (SAINTWalkSampler, {"roots": 2, "length": 0}, "length=0: must be an integer >= 1"),
    ],
)
def test_bad_input(kind: type[SAINTSampler], options: dict[str, int], message: str) -> None:
    with pytest.raises(SignError, match=message):
        small(kind, **options)


def test_edges_are_not_self_loops() -> None:
    loops = row_normalized([(0, 0), (0, 1), (1, 2), (2, 3), (3, 4)], 5, directed=True)
    with pytest.raises(SignError, match="the matrix has 1 self-loops, which are no edges"):
        small(SAINTEdgeSampler, loops, edges_drawn=2)
