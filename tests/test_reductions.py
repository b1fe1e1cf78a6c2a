"""The layers that the paper says SIGN contains: equal weights give equal outputs."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.polynomial import chebyshev, polynomial
from torch import Tensor
from torch_geometric.nn import ChebConv, GCNConv, SGConv

from sign.configuration import Settings
from sign.datamodule import SIGNDataModule
from sign.experiment import make_datamodule, make_task
from sign.network import SIGN

Configured = Callable[..., Settings]
PLAIN = ("scaling.features=none", "scaling.hops=none")


def built(settings: Settings) -> tuple[SIGNDataModule, SIGN, Tensor, Tensor]:
    """Data, network, wide rows of all nodes, and the edges for PyG."""
    datamodule = make_datamodule(settings)
    rows = np.concatenate([np.array(array) for array in datamodule.hops.arrays["train"]], axis=1)
    csr = datamodule.precomputation.dataset.load().adjacency
    edges = torch.from_numpy(np.stack([csr.rows, csr.indices]).astype(np.int64))
    network = make_task(settings, datamodule).network.eval()
    return datamodule, network, torch.from_numpy(rows), edges


def assert_same_outputs(network: SIGN, rows: Tensor, expected: Tensor) -> None:
    with torch.no_grad():
        torch.testing.assert_close(network(rows), expected.detach(), atol=1e-5, rtol=1e-5)


def test_gcn(configured: Configured) -> None:
    data, network, rows, edges = built(configured("model=gcn", *PLAIN))
    peer = GCNConv(data.features, data.problem.classes)
    network.output.weight.data, network.output.bias.data = peer.lin.weight.data, peer.bias.data
    assert_same_outputs(
        network, rows, peer(torch.from_numpy(data.precomputation.dataset.load().features), edges)
    )


def test_sgcn(configured: Configured) -> None:
    data, network, rows, edges = built(configured("model=sgcn", "model.p=3", *PLAIN))
    peer = SGConv(data.features, data.problem.classes, K=3)
    network.output.weight.data, network.output.bias.data = peer.lin.weight.data, peer.lin.bias.data
    assert_same_outputs(
        network, rows, peer(torch.from_numpy(data.precomputation.dataset.load().features), edges)
    )


def test_chebnet(configured: Configured) -> None:
    """PyG sums T_k(Δ - I) X W_k; in powers of Δ that is sum Δ^j X Θ_j, with the basis changed."""
    data, network, rows, edges = built(configured("model=chebnet", "model.p=3", *PLAIN))
    peer = ChebConv(data.features, data.problem.classes, K=4)
    weights = np.stack([lin.weight.detach().numpy() for lin in peer.lins])
    ours = np.zeros_like(weights)
    shift = np.array([-1.0, 1.0])  # Δ - 1 as a polynomial of Δ
    for k in range(4):
        in_shifted = chebyshev.cheb2poly(np.eye(4)[k])
        in_delta = np.zeros(4)
        for power, factor in enumerate(in_shifted):
            term = factor * polynomial.polypow(shift, power)
            in_delta[: len(term)] += term
        for j in range(4):
            ours[j] += in_delta[j] * weights[k]
    network.output.weight.data = torch.from_numpy(np.concatenate(ours, axis=1))
    network.output.bias.data = peer.bias.data
    assert_same_outputs(
        network, rows, peer(torch.from_numpy(data.precomputation.dataset.load().features), edges)
    )


def test_mlp_sees_the_features_alone(configured: Configured) -> None:
    data, network, rows, _ = built(configured("model=mlp", *PLAIN))
    assert data.hops.names == ["X"]
    assert torch.equal(rows, torch.from_numpy(data.precomputation.dataset.load().features))
    assert len(network.branches) == 1


def test_sign_with_several_operators_has_their_branches(configured: Configured) -> None:
    data = make_datamodule(configured("model.p=2", "model.s=1", "model.t=1"))
    assert data.hops.names == ["X", "p1", "p2", "s1", "t1"]
    assert configured("model.p=4", "model.t=1").title == "SIGN(4,0,1)"
    assert configured("model.p=3", "model.d=1", "model.f=1").title == "SIGN(3,1,1)"
    assert configured("model=sgcn", "model.p=2").title == "S-GCN(L=2)"
