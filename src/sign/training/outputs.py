"""The outputs of a network for all rows of a split, for metrics that sums do not give."""

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from sign.graph.csr import Array
from sign.system import arrays
from sign.training.distributed import gather

MAX_CONFUSION = 1000  # classes of a confusion matrix


class SplitOutputs:
    """Scores and predictions for the rows of a split that this rank evaluates, in their order.

    Scores are kept class by class, because a ranking metric sorts those of one class; within a memory limit, what
    does not fit is in a file. Multilabel scores are logits, those of two classes the difference of their logits, and
    those of more classes probabilities.
    """

    def __init__(self, labels: Tensor, classes: int, multilabel: bool) -> None:
        self.labels: Array = labels.numpy()
        self.classes, self.multilabel = classes, multilabel
        self.binary = not multilabel and classes == 2
        self.scores = arrays.empty((1 if self.binary else classes, len(labels)), np.float32)
        self.predictions = np.empty(0 if multilabel else len(labels), np.int64)
        self.rows = 0

    def add(self, logits: Tensor) -> None:
        """Add a batch of rows."""
        part = slice(self.rows, self.rows + len(logits))
        logits = logits.detach().float()
        if self.multilabel:
            scores = logits.T
        else:
            self.predictions[part] = logits.argmax(1).cpu().numpy()
            scores = (logits[:, 1] - logits[:, 0])[None] if self.binary else logits.softmax(1).T
        self.scores[:, part] = scores.cpu().numpy()
        self.rows = part.stop % max(len(self.labels), 1)  # the next epoch starts again

    def by_class(self) -> Iterator[tuple[Array, Array]]:
        """Yield the scores of each class, and whether a node has it, over all ranks; of two classes, the second."""
        for index, scores in enumerate(self.scores):
            positive = self.labels[:, index] > 0 if self.multilabel else self.labels == (1 if self.binary else index)
            parts = gather((scores, positive))
            every, hits = (np.concatenate(part) for part in zip(*parts, strict=True))
            arrays.release(scores)
            yield every, hits

    def single_labels(self) -> tuple[Array, Array]:
        """Predicted and actual classes of all ranks."""
        parts = gather((self.predictions, self.labels))
        predicted, actual = (np.concatenate(part) for part in zip(*parts, strict=True))
        return predicted, actual

    def confusion(self) -> Array | None:
        """Nodes by actual (row) and predicted class; None for multilabel data, and for too many classes."""
        if self.multilabel or self.classes > MAX_CONFUSION:
            return None
        predicted, actual = self.single_labels()
        counts = np.bincount(actual * self.classes + predicted, minlength=self.classes**2)
        return counts.reshape(self.classes, self.classes)
