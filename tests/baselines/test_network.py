"""Layers are those of PyG, and products have the gradients of dense ones."""

import numpy as np
import pytest
import scipy.sparse
import torch
from common.sampling import WHEEL
from torch_geometric.nn import GCNConv, SAGEConv

from sign.baselines.network import BatchNorm, GCNLayer, SAGELayer
from sign.baselines.propagation import Propagation
from sign.graph.csr import CSR
from sign.models.networks.sparse import SparseMatrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.testing import graph_of

GRAPH = graph_of(WHEEL, 8)  # the last node is isolated
EDGES = torch.tensor([*WHEEL, *((target, source) for source, target in WHEEL)]).T
X = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))


def propagation(normalization: str) -> Propagation:
    csr = CSR.from_scipy(NormalizedAdjacency(normalization).matrix(GRAPH).to_scipy())  # type: ignore[arg-type]
    return Propagation(SparseMatrix(csr.indptr, csr.indices, csr.weights, csr.nodes))


@pytest.mark.parametrize("project_first", [False, True])
def test_a_layer_of_gcn_is_that_of_pyg(project_first: bool) -> None:
    layer, theirs = GCNLayer(5, 3, 0.0, project_first=project_first), GCNConv(5, 3)
    theirs.lin.weight.data, theirs.bias.data = layer.linear.weight.data, torch.randn(3)
    layer.bias.data = theirs.bias.data
    sparse = propagation("gcn")
    ours = layer.update(X, sparse.product(layer.message(X)))
    assert torch.allclose(ours, theirs(X, EDGES), atol=1e-6)


def test_a_layer_of_graphsage_is_that_of_pyg() -> None:
    layer, theirs = SAGELayer(5, 3, 0.0), SAGEConv(5, 3)
    theirs.lin_r.weight.data = layer.own.weight.data
    theirs.lin_l.load_state_dict(layer.neighbours.state_dict())
    ours = layer.update(X, propagation("row").product(layer.message(X)))
    assert torch.allclose(ours, theirs(X, EDGES), atol=1e-6)


def test_a_sparse_product_and_its_gradient_are_those_of_the_dense_matrix() -> None:
    matrix = scipy.sparse.random_array((4, 7), density=0.4, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    block = SparseMatrix(matrix.indptr, matrix.indices, matrix.data, 7)
    sparse, dense = (torch.ones(7, 3).mul(torch.arange(7)[:, None]).requires_grad_() for _ in range(2))
    weights = torch.arange(12.0).reshape(4, 3)
    ((block @ sparse) * weights).sum().backward()
    ((torch.from_numpy(matrix.toarray()) @ dense) * weights).sum().backward()
    assert torch.allclose(block @ sparse, torch.from_numpy(matrix.toarray()) @ dense)
    assert torch.allclose(sparse.grad, dense.grad)


def test_a_block_without_entries_is_zero() -> None:
    empty = np.zeros(0)
    block = SparseMatrix(np.zeros(4, np.int64), empty.astype(np.int32), empty.astype(np.float32), 2)
    h = torch.ones(2, 5, requires_grad=True)
    (block @ h).sum().backward()
    assert not (block @ h).any()
    assert not h.grad.any()


def test_batch_norm_takes_a_batch_of_one_row() -> None:
    norm = BatchNorm(3)
    assert torch.allclose(norm(torch.ones(1, 3)), torch.ones(1, 3), atol=1e-4)
    assert norm(torch.randn(2, 3)).shape == (2, 3)
