"""Sums give the metrics of torchmetrics, for any batches."""

from itertools import pairwise

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from torchmetrics.functional.classification import multiclass_accuracy, multiclass_f1_score, multilabel_f1_score

from sign.training.metrics import SplitMetrics

CUTS = [(0, 100), (0, 1, 100), (0, 33, 33, 70, 100)]


def counted(
    logits: torch.Tensor, labels: torch.Tensor, losses: torch.Tensor, cuts: tuple, classes: int | None = None
) -> dict[str, float]:
    metrics = SplitMetrics(labels.ndim == 2, classes)
    for start, stop in pairwise(cuts):
        metrics.update(losses[start:stop].sum(), logits[start:stop], labels[start:stop])
    return {name: float(value) for name, value in metrics.compute("val").items()}


@pytest.mark.parametrize("cuts", CUTS)
def test_single_labels(cuts: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    logits, labels = torch.randn(100, 5, generator=generator), torch.randint(5, (100,), generator=generator)
    losses = cross_entropy(logits, labels, reduction="none")
    together, by_class = (counted(logits, labels, losses, cuts, classes) for classes in (None, 5))
    assert together["val/loss"] == pytest.approx(float(losses.mean()), rel=1e-6)
    assert together["val/accuracy"] == pytest.approx(float(multiclass_accuracy(logits, labels, 5, average="micro")))
    macro = float(multiclass_f1_score(logits, labels, 5, average="macro"))
    assert by_class == together | {"val/macro_f1": pytest.approx(macro)}


@pytest.mark.parametrize("cuts", CUTS)
def test_multilabel(cuts: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(100, 5, generator=generator)
    labels = torch.randint(2, (100, 5), generator=generator).float()
    losses = binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(dim=1)
    together, by_class = (counted(logits, labels, losses, cuts, classes) for classes in (None, 5))
    micro, macro = (
        float(multilabel_f1_score((logits > 0).int(), labels.int(), 5, average=average))
        for average in ("micro", "macro")
    )
    assert together["val/micro_f1"] == pytest.approx(micro)
    assert by_class == together | {"val/macro_f1": pytest.approx(macro)}
    assert set(together) == {"val/loss", "val/micro_f1"}


def test_the_micro_f1_of_single_labels_is_not_listed_beside_the_accuracy_that_it_equals() -> None:
    numbers = counted(torch.eye(3), torch.arange(3), torch.zeros(3), (0, 3), classes=3)
    assert set(numbers) == {"val/loss", "val/accuracy", "val/macro_f1"}


def test_a_class_that_neither_occurs_nor_is_predicted_counts_in_the_macro_f1_of_multilabel_data_only() -> None:
    logits = torch.tensor([[2.0, 0.0, -9.0], [2.0, 3.0, -9.0]])  # predicted: 0 and 1
    assert counted(logits, torch.tensor([0, 1]), torch.zeros(2), (0, 2), classes=3)["val/macro_f1"] == 1.0
    labels = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    assert counted(logits, labels, torch.zeros(2), (0, 2), classes=3)["val/macro_f1"] == pytest.approx(2 / 3)


def test_small_logits_are_not_taken_for_probabilities() -> None:
    assert counted(torch.full((2, 4), 0.2), torch.ones(2, 4), torch.zeros(2), (0, 2))["val/micro_f1"] == 1.0


def test_metrics_are_reset_when_they_are_computed() -> None:
    metrics = SplitMetrics(multilabel=False)
    metrics.update(torch.tensor(5.0), torch.eye(2), torch.tensor([0, 1]))
    assert metrics.compute("train")["train/accuracy"] == 1.0
    metrics.update(torch.tensor(7.0), torch.eye(2), torch.tensor([1, 1]))
    assert {name: float(value) for name, value in metrics.compute("train").items()} == {
        "train/loss": 3.5,
        "train/accuracy": 0.5,
    }


def test_sums_of_several_ranks_are_added() -> None:
    metrics = SplitMetrics(multilabel=False, classes=2)
    metrics.update(torch.tensor(5.0), torch.eye(2), torch.tensor([0, 1]))
    other = torch.tensor([1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0], dtype=torch.float64)  # loss, rows; a 1 taken for a 0
    numbers = metrics.compute("test", lambda sums: sums + other)
    assert float(numbers["test/loss"]) == 2.0
    assert float(numbers["test/accuracy"]) == 2 / 3
    assert float(numbers["test/macro_f1"]) == pytest.approx(2 / 3)
