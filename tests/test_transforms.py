"""The PyG transform gives the same hops as the operators."""

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from common.graphs import applied
from torch_geometric.data import Data

import sign.transforms
from sign.datasets.cora import Cora
from sign.errors import SignError
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.heat import HeatKernel
from sign.testing import graph_of


def cora() -> Data:
    graph = Cora().load()
    edges = np.stack([graph.adjacency.row_indices(), graph.adjacency.indices]).astype(np.int64)
    return Data(x=torch.from_numpy(graph.features[:, :20].copy()), edge_index=torch.from_numpy(edges))


def test_symmetric_powers_equal_those_of_pyg() -> None:
    ours = sign.transforms.SIGN(p=3, operators={"p": NormalizedAdjacency("symmetric")})(cora())
    theirs = T.SIGN(3)(cora())
    for name in ("x1", "x2", "x3"):
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-5, rtol=1e-4)


def test_all_operators_compose_in_order() -> None:
    graph = graph_of([(0, 1), (1, 2), (2, 0), (2, 3)], 4)
    edges = torch.from_numpy(np.stack([graph.adjacency.row_indices(), graph.adjacency.indices]).astype(np.int64))
    data = Data(x=torch.eye(4), edge_index=edges)
    transform = sign.transforms.SIGN(p=2, s=1, t=1, h=1, operators={"h": HeatKernel()})
    data = T.Compose([T.ToUndirected(), transform])(data)
    operators = [transform.operators[letter] for letter in "pppsth"[1:]]
    expected = [applied(operator, graph) for operator in operators]
    expected[1] = expected[1] @ expected[1]
    for hop, matrix in enumerate(expected, start=1):
        np.testing.assert_allclose(data[f"x{hop}"].numpy(), matrix, atol=1e-5)
    assert "x6" not in data


def test_a_directed_graph_has_both_directions() -> None:
    data = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]))
    data = sign.transforms.SIGN(d=1, f=1)(data)
    assert data.x1.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert data.x2.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_weights_that_differ_by_direction_make_a_directed_graph() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(x=torch.eye(3), edge_index=edges, edge_weight=torch.tensor([1.0, 5.0, 1.0, 1.0]))
    x1 = sign.transforms.SIGN(p=1)(data).x1
    torch.testing.assert_close(x1, x1.T)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SignError, match="there is no operator q"):
        sign.transforms.SIGN(q=1)
    with pytest.raises(SignError, match="p=-1: a power"):
        sign.transforms.SIGN(p=-1)
    with pytest.raises(SignError, match="no x or no edge_index"):
        sign.transforms.SIGN(p=1)(Data(num_nodes=3))
