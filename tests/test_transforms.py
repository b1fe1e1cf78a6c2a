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


@pytest.mark.parametrize("weighted", [False, True])
def test_symmetric_powers_equal_those_of_pyg(weighted: bool) -> None:
    data = cora()
    if weighted:
        data.edge_weight = 1 + (data.edge_index.sum(dim=0) % 5).float()
    ours = sign.transforms.SIGN(p=3, normalization="symmetric")(data.clone())
    theirs = T.SIGN(3)(data)
    for name in ("x1", "x2", "x3"):
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-6, rtol=0)


def test_the_default_has_self_loops_unlike_that_of_pyg() -> None:
    edge = Data(x=torch.eye(2), edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert sign.transforms.SIGN(p=1)(edge.clone()).x1.tolist() == pytest.approx(np.full((2, 2), 0.5))
    assert T.SIGN(1)(edge).x1.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_adjacency_may_be_a_sparse_tensor(layout: torch.layout, weighted: bool) -> None:
    directed = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 1, 3], [1, 0, 2, 2]]))
    if weighted:
        directed.edge_weight = torch.tensor([1.0, 3.0, 2.0, 5.0])
    transform = sign.transforms.SIGN(p=2, d=1, f=1)
    expected = transform(directed.clone())
    sparse = T.ToSparseTensor(attr="edge_weight", layout=layout)(directed)
    assert sparse.edge_index is None
    found = transform(sparse)
    for name in ("x1", "x2", "x3", "x4"):
        assert (found[name] == expected[name]).all()


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
    with pytest.raises(SignError, match=r"SIGN\(2\): name the operator, as in SIGN\(p=2\); PyG's SIGN\(2\)"):
        sign.transforms.SIGN(2)  # type: ignore[arg-type]
    with pytest.raises(SignError, match=r"SIGN\(\): no operator has a power; name one, as in SIGN\(p=2\)"):
        sign.transforms.SIGN()
    with pytest.raises(SignError, match="normalization=row: is that of the operator p, which is given"):
        sign.transforms.SIGN(p=1, normalization="row", operators={"p": NormalizedAdjacency()})
    with pytest.raises(SignError, match="normalization=round: choose one of gcn"):
        sign.transforms.SIGN(p=1, normalization="round")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(num_nodes=3), "has no x"),
        (Data(x=torch.eye(3)), "no edge_index and no adj_t"),
        (Data(x=torch.eye(3), adj_t=torch.eye(2).to_sparse_csr()), r"adj_t is a Tensor of shape \(2, 2\); .* 3 × 3"),
        (Data(x=torch.eye(3), adj_t="x"), "adj_t is a str"),
        (Data(x=torch.eye(3), edge_index=torch.tensor([0, 1])), "edge_index of shape"),
        (Data(x=torch.full((3, 1), 3e38), edge_index=torch.tensor([[0, 0, 1, 2], [1, 2, 0, 0]])),
         "x1: some values are not finite in float32; scale x first"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_diffused_are_refused(data: Data, message: str) -> None:
    with pytest.raises(SignError, match=message):
        sign.transforms.SIGN(p=1, operators={"p": NormalizedAdjacency("column")})(data)
