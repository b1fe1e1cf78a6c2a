"""Outputs of all batches and ranks give the metrics of the whole split."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torchmetrics.functional.classification import (
    binary_auroc,
    binary_average_precision,
    multiclass_auroc,
    multiclass_confusion_matrix,
    multilabel_auroc,
    multilabel_average_precision,
)

from sign.system import arrays, memory
from sign.training import outputs
from sign.training.outputs import SplitOutputs
from sign.training.ranking import ranking_metrics

ROWS = 90


def drawn(classes: int, multilabel: bool) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(ROWS, classes, generator=generator)
    labels = torch.randint(
        2 if multilabel else classes, (ROWS, classes) if multilabel else (ROWS,), generator=generator
    )
    return logits, labels


def collected(logits: torch.Tensor, labels: torch.Tensor, part: slice = slice(None)) -> SplitOutputs:
    kept = SplitOutputs(labels[part], logits.shape[1], labels.ndim == 2)
    for _ in range(2):  # a second epoch replaces the first
        for batch in logits[part].split(32):
            kept.add(batch)
    return kept


def test_two_classes_have_the_metrics_of_the_second() -> None:
    logits, labels = drawn(2, multilabel=False)
    metrics = ranking_metrics(collected(logits, labels).by_class())
    probabilities = logits.softmax(1)[:, 1]
    assert metrics["roc_auc"] == pytest.approx(float(binary_auroc(probabilities, labels)))
    assert metrics["average_precision"] == pytest.approx(float(binary_average_precision(probabilities, labels)))


def test_several_classes_are_each_compared_with_the_rest() -> None:
    logits, labels = drawn(5, multilabel=False)
    metrics = ranking_metrics(collected(logits, labels).by_class())
    assert metrics["roc_auc"] == pytest.approx(float(multiclass_auroc(logits.softmax(1), labels, 5)))


def test_labels_are_averaged() -> None:
    logits, labels = drawn(4, multilabel=True)
    metrics = ranking_metrics(collected(logits, labels).by_class())
    assert metrics["roc_auc"] == pytest.approx(float(multilabel_auroc(logits.sigmoid(), labels, 4)))
    expected = float(multilabel_average_precision(logits.sigmoid(), labels, 4))
    assert metrics["average_precision"] == pytest.approx(expected)


@pytest.mark.parametrize("multilabel", [False, True])
def test_two_ranks_have_the_metrics_of_one(multilabel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    logits, labels = drawn(3, multilabel)
    alone = ranking_metrics(collected(logits, labels).by_class())
    first, second = (collected(logits, labels, part) for part in (slice(0, 31), slice(31, ROWS)))
    monkeypatch.setattr(outputs, "gather", lambda value: [value])
    other = list(second.by_class())
    monkeypatch.setattr(outputs, "gather", lambda value: [value, other.pop(0)])
    assert ranking_metrics(first.by_class()) == pytest.approx(alone, rel=1e-12)


def test_the_confusion_matrix_has_a_row_per_actual_class() -> None:
    logits, labels = drawn(5, multilabel=False)
    expected = multiclass_confusion_matrix(logits, labels, 5).numpy()
    np.testing.assert_array_equal(collected(logits, labels).confusion(), expected)
    assert collected(*drawn(3, multilabel=True)).confusion() is None


def test_scores_beyond_the_memory_limit_are_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    logits, labels = drawn(5, multilabel=False)
    in_memory = collected(logits, labels)
    with memory.limit(memory.resident(), tmp_path):
        mapped = collected(logits, labels)
    assert arrays.memory_map(mapped.scores) is not None
    assert arrays.memory_map(in_memory.scores) is None
    assert ranking_metrics(mapped.by_class()) == ranking_metrics(in_memory.by_class())
