"""Sums over rows, from which the loss and the metrics of a split follow exactly."""

from collections.abc import Callable

import torch
from torch import Tensor


class Tally:
    """Counts of a split, whatever parts its rows come in and whichever process sees them.

    Single labels: rows, and those that were right. Multilabel: rows, and labels that were truly found, falsely
    found and missed. Nothing but tensors is added up, so that a GPU is not waited for.
    """

    def __init__(self, multilabel: bool) -> None:
        self.multilabel = multilabel
        self.loss: Tensor | float = 0.0
        self.rows = 0
        self.counts: Tensor | int = 0

    def add(self, loss: Tensor, logits: Tensor, labels: Tensor) -> None:
        """Add rows: the sum of their losses, what was said of them and what is true."""
        self.rows += len(labels)
        self.loss = self.loss + loss.detach().to(_widest(loss))
        if self.multilabel:
            said, true = logits.detach() > 0, labels > 0
            found = (said & true).sum()
            self.counts = self.counts + torch.stack([found, said.sum() - found, true.sum() - found])
        else:
            self.counts = self.counts + (logits.detach().argmax(1) == labels).sum()

    def results(self, split: str, add_up: Callable[[Tensor], Tensor] | None = None) -> dict[str, Tensor]:
        """Loss and metrics by name; afterwards the tally is empty.

        ``add_up`` gives the sum of a tensor over all processes.
        """
        loss = torch.as_tensor(self.loss)
        rest = torch.cat(
            [torch.tensor([self.rows], device=loss.device), torch.as_tensor(self.counts).reshape(-1)]
        )
        sums = torch.cat([loss[None], rest]).to(_widest(loss))
        self.__init__(self.multilabel)  # type: ignore[misc]
        loss, rows, *counted = (add_up(sums) if add_up else sums).unbind()
        if self.multilabel:
            found, false, missed = counted
            f1 = 2 * found / (2 * found + false + missed).clamp(min=1)
            scores = {"micro_f1": f1}
        else:
            accuracy = counted[0] / rows
            scores = {"accuracy": accuracy, "micro_f1": accuracy}  # one number, where each row has one label
        return {f"{split}/{name}": value for name, value in {"loss": loss / rows, **scores}.items()}


def _widest(tensor: Tensor) -> torch.dtype:
    """Double precision, where the device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.float64
