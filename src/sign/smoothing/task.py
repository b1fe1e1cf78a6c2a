"""The task of scores that are known for all nodes: metrics, without a network."""

import numpy as np
import torch
from torch import Tensor

from sign.graph.csr import Array, Floats
from sign.graph.graph import SPLITS, Graph
from sign.training.node_task import NodeTask
from sign.training.rows import RowLoader
from sign.training.settings import Training

EVALUATION_BATCH = 1 << 14  # nodes whose scores are looked up at a time
SMALLEST = 1e-7  # probability, whose logarithm is still finite


class ScoresTask(NodeTask):
    """Node classification by scores from 0 to 1, one row per node of the graph; it can only be tested."""

    def __init__(self, scores: Floats, graph: Graph, training: Training, evaluator: str | None = None) -> None:
        super().__init__(graph.classes, graph.multilabel, training, evaluator=evaluator)
        self.scores, self.graph = scores, graph

    def forward(self, nodes: Tensor) -> Tensor:
        """Look up the scores of some nodes, as logits."""
        return torch.from_numpy(logits(self.scores[nodes.cpu().numpy()], self.multilabel)).to(self.device)

    def test_dataloader(self) -> list[RowLoader]:
        """The nodes of every split."""
        dtype = np.float32 if self.multilabel else np.int64
        loaders = []
        for split in SPLITS:
            nodes = self.graph.nodes_of(split)
            labels = torch.from_numpy(self.graph.labels[nodes].astype(dtype))
            loaders.append(RowLoader(torch.from_numpy(nodes), labels, EVALUATION_BATCH))
        return loaders


def logits(scores: Array, multilabel: bool) -> Floats:
    """Return values whose softmax, or whose sigmoid for several labels, are the scores; rows are scaled to sum to one.

    >>> logits(np.array([[0.5, 0.0, 0.5]]), multilabel=False).round(1)
    array([[ -0.7, -16.1,  -0.7]])
    """
    inside = np.clip(scores, SMALLEST, 1 - SMALLEST if multilabel else None)
    values: Floats = np.log(inside) - np.log1p(-inside) if multilabel else np.log(inside)
    return values
