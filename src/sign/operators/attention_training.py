"""The parameters of attention, learned on sampled training nodes; the layers above them are discarded."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, leaky_relu, relu

from sign.graph.classification import Origin
from sign.graph.csr import Floats
from sign.graph.csr_transforms import remove_self_loops
from sign.operators.attention_scores import BOUND, SLOPE
from sign.operators.edge_learning import fit
from sign.operators.neighbour_sampling import Learning, NeighbourBatch

DROPOUT = 0.5
SCALED = 1024  # training nodes whose features tell their scale


class AttentionLayer(nn.Module):
    """One head of attention over sampled neighbours, a hidden layer on what it averages, and an output layer."""

    def __init__(self, features: int, units: int, hidden: int, classes: int, scale: float) -> None:
        super().__init__()
        self.scale = scale  # of the features, which the layers see in units of it
        self.own, self.other = nn.Linear(features, units), nn.Linear(features, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)
        self.hidden, self.output = nn.Linear(features, hidden), nn.Linear(hidden, classes)

    def forward(self, batch: NeighbourBatch) -> Tensor:
        """Return the logits of the nodes of a batch."""
        x, nodes = torch.from_numpy(batch.features) / self.scale, len(batch.nodes)
        rows, columns = torch.from_numpy(batch.rows), torch.from_numpy(batch.columns)
        x = dropout(x, DROPOUT, self.training)
        centres, neighbours = self.own(x[:nodes]), self.other(x)
        own = self.score(leaky_relu(centres + neighbours[:nodes], SLOPE)).squeeze(1)
        scores = self.score(leaky_relu(centres[rows] + neighbours[columns], SLOPE)).squeeze(1)
        weights = (scores - own[rows]).clamp(-BOUND, BOUND).exp() * torch.from_numpy(batch.weights)
        values = self.hidden(x)  # linear, so the average of the values is the value of the average
        total = torch.ones(nodes).index_add(0, rows, weights)
        mixed = values[:nodes].index_add(0, rows, weights[:, None] * values[columns]) / total[:, None]
        logits: Tensor = self.output(dropout(relu(mixed), DROPOUT, self.training))
        return logits

    def parameters_by_row(self) -> Floats:
        """Return U and V by column of the features, then b and a."""
        first, second = (layer.weight.T / self.scale for layer in (self.own, self.other))
        parts = [first, second, self.own.bias[None], self.score.weight]
        return np.ascontiguousarray(torch.cat(parts).detach().numpy())


def learn_attention(training: Origin, units: int, hidden: int, learning: Learning) -> Floats:
    """Return the parameters that :func:`sign.operators.attention_scores.relative_weights` takes."""
    graph = training.graph
    some = training.scaling.apply(np.asarray(graph.features[graph.train[:SCALED]]))
    scale = float(np.sqrt(np.mean(np.square(some, dtype=np.float64)))) if some.any() else 1.0

    def layer() -> AttentionLayer:
        return AttentionLayer(graph.features.shape[1], units, hidden, graph.classes, scale)

    trained = fit(layer, training, remove_self_loops(graph.undirected), learning)
    return trained.parameters_by_row()
