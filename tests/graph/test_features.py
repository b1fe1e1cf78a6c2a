"""Sparse features are read like dense ones."""

from pathlib import Path

import numpy as np
import scipy.sparse

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.graph.classification import classification_of
from sign.graph.features import SparseFeatures, density
from sign.operators.adjacency import NormalizedAdjacency
from sign.store.store import Store
from sign.testing import graph_of


def sparse(nodes: int, columns: int = 30) -> tuple[SparseFeatures, np.ndarray]:
    matrix = scipy.sparse.random_array(
        (nodes, columns), density=0.1, rng=np.random.default_rng(0), format="csr", dtype=np.float32
    )
    return SparseFeatures(matrix.indptr.astype(np.int64), matrix.indices, columns, matrix.data), matrix.toarray()


def test_blocks_are_those_of_the_dense_matrix() -> None:
    features, dense = sparse(50)
    rows = np.array([3, 4, 40])
    assert features.shape == dense.shape
    for key in (slice(None), slice(10, 20), rows, (slice(0, 9), slice(4, 8)), (rows, slice(2, 3)), (rows, slice(9, 9))):
        assert (features[key] == dense[key]).all()
    assert (features.select_rows(rows)[:] == dense[rows]).all()


def test_the_density_is_that_of_the_dense_matrix() -> None:
    features, dense = sparse(50)
    assert density(features) == density(dense) == (dense != 0).mean()


def test_digests_depend_on_all_of_it() -> None:
    features, _ = sparse(20)
    wider = SparseFeatures(features.indptr, features.indices, 31, features.values)
    ones = SparseFeatures(features.indptr, features.indices, 30)
    assert len({features.digest, wider.digest, ones.digest, sparse(21)[0].digest}) == 4


def test_hops_are_those_of_dense_features(tmp_path: Path) -> None:
    csr = Communities(nodes=300, edges=900).load().adjacency
    features, dense = sparse(300)
    for inductive in (False, True):
        for scaling in ("none", "row_sum", "standardize"):
            ours, theirs = (
                diffuse(
                    classification_of(graph_with(csr, values, inductive), scaling),
                    {"p": (NormalizedAdjacency(), 2)},
                    LocalEngine(),
                    Store(str(tmp_path / f"{scaling}{inductive}{kind}")),
                )
                for kind, values in (("sparse", features), ("dense", dense))
            )
            for split in ("train", "test"):
                for mine, other in zip(ours.arrays[split], theirs.arrays[split], strict=True):
                    assert (mine == other).all()


def graph_with(csr, features, inductive: bool):
    from dataclasses import replace

    graph = replace(graph_of([], 300), adjacency=csr, features=features, inductive=inductive)
    return replace(graph, train=np.arange(150), val=np.arange(150, 200), test=np.arange(200, 300))
