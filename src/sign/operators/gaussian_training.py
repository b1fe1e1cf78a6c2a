"""Means and widths of a Gaussian kernel, learned on sampled training nodes; the layers above it are discarded."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from sign.graph.classification import Origin
from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.operators.edge_learning import fit
from sign.operators.neighbour_sampling import Learning, NeighbourBatch


class KernelLayer(nn.Module):
    """An average of sampled neighbours that a kernel weights, a hidden layer and an output layer."""

    def __init__(self, graph: Graph, initial: Floats, bound: float, hidden: int) -> None:
        super().__init__()
        mean, width = torch.from_numpy(initial)
        self.graph, self.bound = graph, bound
        self.mean, self.log_width = nn.Parameter(mean.clone()), nn.Parameter(width.log())
        self.hidden, self.output = nn.Linear(graph.features.shape[1], hidden), nn.Linear(hidden, graph.classes)

    def forward(self, batch: NeighbourBatch) -> Tensor:
        """Return the logits of the nodes of a batch."""
        assert self.graph.edge_features is not None  # the kernel has its means and widths from there
        x, nodes = torch.from_numpy(batch.features), len(batch.nodes)
        rows, columns = torch.from_numpy(batch.rows), torch.from_numpy(batch.columns)
        distances = (torch.from_numpy(self.graph.edge_features[batch.entries]) - self.mean) / self.log_width.exp()
        kernel = torch.exp(-(0.5 * distances.square().sum(1)).clamp(max=self.bound))
        weights = kernel * torch.from_numpy(batch.weights) * (rows != columns)  # of nodes before all others: no loops
        values = self.hidden(x)
        total = torch.zeros(nodes).index_add(0, rows, weights).clamp(min=torch.finfo(torch.float32).tiny)
        mixed = torch.zeros(nodes, values.shape[1]).index_add(0, rows, weights[:, None] * values[columns])
        logits: Tensor = self.output(relu(mixed / total[:, None]))
        return logits

    def parameters_by_row(self) -> Floats:
        """Return the means and the widths."""
        return np.stack([self.mean.detach().numpy(), self.log_width.detach().exp().numpy()])


def learn_kernel(training: Origin, initial: Floats, bound: float, hidden: int, learning: Learning) -> Floats:
    """Return the means and the widths, one row each, which start from the initial ones; exponents have a bound."""

    def layer() -> KernelLayer:
        return KernelLayer(training.graph, initial, bound, hidden)

    return fit(layer, training, training.graph.adjacency, learning).parameters_by_row()
