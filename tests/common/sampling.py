"""Exact tests of samplers: distributions of outcomes, and expectations over all of them."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
import scipy.stats
from numpy.typing import NDArray

from sign.baselines.samplers.batches import Block
from sign.baselines.samplers.streams import stream
from sign.graph.csr import CSR

Array = NDArray[Any]
WHEEL = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (2, 3), (3, 4), (5, 6)]  # degrees 5, 2, 3, 3, 2, 2, 1


def row_normalized(edges: list[tuple[int, int]], nodes: int, directed: bool = False) -> CSR:
    """The matrix D⁻¹ W; rows of nodes without neighbours are empty."""
    pairs = np.array(edges if directed else [*edges, *((target, source) for source, target in edges)])
    degrees = np.bincount(pairs[:, 0], minlength=nodes)
    return CSR.from_scipy(scipy.sparse.csr_array((1 / degrees[pairs[:, 0]], tuple(pairs.T)), (nodes, nodes)))


def random_matrix(nodes: int, entries: int, seed: int = 0) -> CSR:
    """A symmetric matrix with random weights and no self-loops."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, entries))
    weights = rng.uniform(0.5, 2, entries) * (source != target)
    matrix = scipy.sparse.csr_array((weights, (source, target)), (nodes, nodes))
    matrix.eliminate_zeros()
    return CSR.from_scipy(matrix + matrix.T)


def dense(block: Block, columns: Array, nodes: int) -> Array:
    """A block as a dense matrix over all nodes, of which its columns are these."""
    result = np.zeros((len(block.indptr) - 1, nodes))
    result[:, columns] = block.to_scipy().toarray()
    return result


def outcomes(
    sample: Callable[[np.uint64], Any], name: Callable[[Any], Hashable], draws: int = 3000
) -> dict[Hashable, tuple[int, Any]]:
    """How often each outcome was sampled, and a batch of it."""
    found: dict[Hashable, tuple[int, Any]] = {}
    for i in range(draws):
        batch = sample(stream(0, i))
        count, _ = found.get(name(batch), (0, None))
        found[name(batch)] = (count + 1, batch)
    return found


def follows(found: Mapping[Hashable, tuple[int, Any]], probabilities: Mapping[Any, float]) -> bool:
    """Whether exactly the outcomes with these probabilities were found, as often as a chi-square test accepts."""
    assert set(found) == set(probabilities), set(found) ^ set(probabilities)
    assert np.isclose(sum(probabilities.values()), 1)
    counts = np.array([found[outcome][0] for outcome in probabilities])
    expected = np.array(list(probabilities.values())) * counts.sum()
    assert expected.min() >= 5, "too few draws for a chi-square test"
    return len(counts) == 1 or bool(scipy.stats.chisquare(counts, expected).pvalue > 1e-3)


def same(first: Any, second: Any) -> bool:
    """Whether two batches, or lists of them, have equal arrays."""
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if hasattr(first, "__dict__"):
        return all(same(vars(first)[key], vars(second)[key]) for key in vars(first))
    return bool(first == second)
