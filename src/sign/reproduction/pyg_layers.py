"""The layers that the paper says SIGN contains: with equal weights, ours and PyG's outputs side by side."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.polynomial import chebyshev, polynomial
from torch import Tensor
from torch_geometric.nn import ChebConv, GCNConv, SGConv

from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.models.sign import SIGN
from sign.training.datamodule import SIGNDataModule
from sign.training.task import SIGNTask

PLAIN = ("scaling.features=none", "scaling.hops=none")  # PyG's layers scale nothing


class Built:
    """Data and network of one configuration, the wide rows of all nodes, and the graph as PyG has it."""

    def __init__(self, settings: Settings) -> None:
        self.datamodule: SIGNDataModule = prepare(settings)
        wide = [np.array(array) for array in self.datamodule.hops.arrays["train"]]
        self.rows = torch.from_numpy(np.concatenate(wide, axis=1))
        graph = settings.dataset.load()
        self.features = torch.from_numpy(np.array(graph.features))
        csr = graph.adjacency
        self.edges = torch.from_numpy(np.stack([csr.row_indices(), csr.indices]).astype(np.int64))
        self.network: SIGN = SIGNTask.for_data(
            self.datamodule, settings.architecture, settings.training, settings.seed
        ).network.eval()

    def outputs(self, weight: Tensor, bias: Tensor, peer: torch.nn.Module) -> tuple[Tensor, Tensor]:
        """Ours and the peer's, after ours was given the weights."""
        self.network.output.weight.data, self.network.output.bias.data = weight, bias
        with torch.no_grad():
            return self.network(self.rows), peer(self.features, self.edges)


def gcn(settings: Settings) -> tuple[Tensor, Tensor]:
    """``model=gcn`` and ``GCNConv``."""
    built = Built(settings)
    peer = GCNConv(built.datamodule.features, built.datamodule.classification.classes)
    return built.outputs(peer.lin.weight.data, peer.bias.data, peer)


def sgcn(settings: Settings) -> tuple[Tensor, Tensor]:
    """``model=sgcn`` and ``SGConv``."""
    built = Built(settings)
    power = settings.powers["p"][1]
    peer = SGConv(built.datamodule.features, built.datamodule.classification.classes, K=power)
    return built.outputs(peer.lin.weight.data, peer.lin.bias.data, peer)


def chebnet(settings: Settings) -> tuple[Tensor, Tensor]:
    """``model=chebnet`` and ``ChebConv``.

    PyG sums T_k(Δ - I) X W_k; in powers of Δ that is sum Δ^j X Θ_j, with the basis changed.
    """
    built = Built(settings)
    terms = settings.powers["p"][1] + 1
    peer = ChebConv(built.datamodule.features, built.datamodule.classification.classes, K=terms)
    weights = np.stack([lin.weight.detach().numpy() for lin in peer.lins])
    ours = np.zeros_like(weights)
    shift = np.array([-1.0, 1.0])  # Δ - 1 as a polynomial of Δ
    for k in range(terms):
        in_delta = np.zeros(terms)
        for power, factor in enumerate(chebyshev.cheb2poly(np.eye(terms)[k])):
            term = factor * polynomial.polypow(shift, power)
            in_delta[: len(term)] += term
        for j in range(terms):
            ours[j] += in_delta[j] * weights[k]
    return built.outputs(torch.from_numpy(np.concatenate(ours, axis=1)), peer.bias.data, peer)


Reduction = Callable[[Settings], tuple[Tensor, Tensor]]
# The rows of the paper's table, each with the words that configure it and PyG's layer.
REDUCTIONS: dict[str, tuple[tuple[str, ...], Reduction]] = {
    "ChebNet": (("model=chebnet", "model.p=3"), chebnet),
    "GCN": (("model=gcn",), gcn),
    "S-GCN": (("model=sgcn", "model.p=3"), sgcn),
}
