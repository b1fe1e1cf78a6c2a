"""Powers of sparse features have the bits of those of dense ones."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sign.engines.base import Block, Diffusion
from sign.engines.local import sparse
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import by_products
from sign.graph import features
from sign.graph.csr import CSR
from sign.graph.features import SparseFeatures
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency

ENGINE = LocalEngine()


def random_matrix(nodes: int, rng: np.random.Generator) -> Matrix:
    source, target = rng.integers(0, nodes, (2, 2 * nodes))
    csr = CSR.from_edges(source, target, nodes)
    weights = rng.random(csr.entries, np.float32) if rng.random() < 0.5 else None
    left, right = rng.random((2, nodes), np.float32)
    return Matrix(CSR(csr.indptr, csr.indices, weights), left, right, rng.choice([0.0, 1.0, -0.5]))


def hops_of(blocks: Iterable[Block], diffusion: Diffusion) -> dict[int, np.ndarray]:
    rows = diffusion.x.shape[0] if diffusion.used is None else len(diffusion.used)
    hops = {power: np.full((rows, diffusion.columns), np.nan, np.float32) for power in diffusion.wanted}
    for power, part, columns, values in blocks:
        hops[power][part, columns] = values
    return hops


@pytest.mark.parametrize("most", [1.0, 0.2, 0.0])  # all powers stay sparse, some, none
@given(st.integers(1, 12), st.integers(4, 15), st.integers(1, 4), st.booleans(), st.booleans(), st.integers(0, 999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_they_equal_products_of_dense_arrays(
    monkeypatch: pytest.MonkeyPatch, most: float, nodes: int, columns: int, last: int, some: bool, half: bool, seed: int
) -> None:
    monkeypatch.setattr(sparse, "MAX_DENSITY", most)
    rng = np.random.default_rng(seed)
    x = (rng.random((nodes, columns), np.float32) * (rng.random((nodes, columns)) < 0.2)).astype(np.float32)
    used = np.flatnonzero(rng.random(nodes) < 0.7) if some else None
    rows = dict.fromkeys(range(1, last), None) | {last: used}
    wanted = frozenset({last, *range(1, last, 2)})
    dtype = "float16" if half else "float32"
    entries = SparseFeatures.from_blocks([x[: nodes // 2], x[nodes // 2 :]], columns)
    dense = Diffusion(NormalizedAdjacency(), random_matrix(nodes, rng), x, rows, wanted, used, dtype)
    ours = Diffusion(NormalizedAdjacency(), dense.matrix, entries, rows, wanted, used, dtype)
    expected, found = hops_of(by_products(ENGINE, dense), dense), hops_of(sparse.powers(ENGINE, ours), ours)
    for power in wanted:
        assert np.array_equal(found[power].astype(dtype), expected[power].astype(dtype))


def test_only_large_sparse_features_and_operators_of_one_product_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    x = SparseFeatures.from_blocks([np.eye(30, dtype=np.float32)], 30)
    diffusion = Diffusion(NormalizedAdjacency(), random_matrix(30, np.random.default_rng(0)), x, {1: None}, {1})
    assert not sparse.takes(diffusion)
    monkeypatch.setattr(features, "MIN_BYTES", 0)
    assert sparse.takes(diffusion)
    monkeypatch.setattr(features, "MAX_DENSITY", 0.01)
    assert not sparse.takes(diffusion)
