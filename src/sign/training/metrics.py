"""Loss, accuracy and F1 of a split, exact for any batches and any number of ranks.

torchmetrics is not used: its accuracy and mean take 112 µs per batch of 1024 rows, these sums 27 µs, which is 5% of a
step of a small network.
"""

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from sign.graph.csr import Array


class SplitMetrics:
    """Sums over the rows of a split: the loss, the number of rows, and counts of predictions.

    The counts are correct predictions for single labels; true positives, false positives and false negatives for
    multilabel data. Sums are tensors on the device, so that a GPU is not synchronised for every batch.
    """

    def __init__(self, multilabel: bool) -> None:
        self.multilabel = multilabel
        self.reset()

    def reset(self) -> None:
        """Start from zero."""
        self.loss: Tensor | float = 0.0
        self.rows = 0
        self.counts: Tensor | int = 0

    def update(self, loss: Tensor, logits: Tensor, labels: Tensor) -> None:
        """Add a batch; ``loss`` is the sum of the losses of its rows."""
        self.rows += len(labels)
        self.loss = self.loss + loss.detach().to(_widest(loss))
        if self.multilabel:
            predicted, actual = logits.detach() > 0, labels > 0
            positives = (predicted & actual).sum()
            counts = torch.stack([positives, predicted.sum() - positives, actual.sum() - positives])
            self.counts = self.counts + counts
        else:
            self.counts = self.counts + (logits.detach().argmax(1) == labels).sum()

    def compute(self, split: str, all_reduce: Callable[[Tensor], Tensor] | None = None) -> dict[str, Tensor]:
        """Loss and metrics by name, and reset; ``all_reduce`` returns the sum of a tensor over all ranks."""
        loss = torch.as_tensor(self.loss)
        rest = torch.cat([torch.tensor([self.rows], device=loss.device), torch.as_tensor(self.counts).reshape(-1)])
        sums = torch.cat([loss[None], rest]).to(_widest(loss))
        self.reset()
        loss, rows, *counts = (all_reduce(sums) if all_reduce else sums).unbind()
        if self.multilabel:
            positives, false_positives, false_negatives = counts
            f1 = 2 * positives / (2 * positives + false_positives + false_negatives).clamp(min=1)
            scores = {"micro_f1": f1}
        else:
            accuracy = counts[0] / rows
            scores = {"accuracy": accuracy, "micro_f1": accuracy}  # equal if each row has one label
        return {f"{split}/{name}": value for name, value in {"loss": loss / rows, **scores}.items()}


def ogb_accuracy(dataset: str, predictions: Array, labels: Array) -> float:
    """The accuracy that OGB's evaluator of ``dataset`` computes."""
    sys.modules.setdefault("outdated", None)  # type: ignore[arg-type]  # ogb asks the network for updates with it
    from ogb.nodeproppred import Evaluator

    scores = Evaluator(dataset).eval({"y_true": labels[:, None], "y_pred": predictions[:, None]})
    return float(scores["acc"])


def _widest(tensor: Tensor) -> torch.dtype:
    """Double precision, where the device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
