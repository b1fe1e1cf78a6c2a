"""Results by class on the test split, as tables of the run folder."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sign.graph.csr import Array
from sign.runs import CONFUSION, PER_CLASS, THRESHOLDS
from sign.system.atomic_files import write_json, write_text


@dataclass(frozen=True, eq=False)
class ClassResults:
    """True, predicted and actual positives of each class (3 × classes) on the test split.

    Single labels also have the confusion matrix, with one row per actual class; multilabel data may have a threshold
    per label, other than 0.5.
    """

    counts: Array
    confusion: Array | None = None
    thresholds: list[float] | None = None

    def per_class(self, names: Sequence[str]) -> list[list[Any]]:
        """One row per class: name, nodes of the class, precision, recall and F1; 0 where nothing is counted."""
        true, predicted, actual = self.counts
        columns = [
            true / np.maximum(predicted, 1),
            true / np.maximum(actual, 1),
            2 * true / np.maximum(predicted + actual, 1),
        ]
        values = np.stack(columns, axis=1).tolist()
        return [[name, int(size), *row] for name, size, row in zip(names, actual, values, strict=True)]

    def write(self, folder: Path, class_names: Sequence[str]) -> None:
        """Write the tables; classes without names are numbered."""
        names = list(class_names) or [str(number) for number in range(self.counts.shape[1])]
        header = ["class", "support", "precision", "recall", "f1"]
        _write_csv(folder / PER_CLASS, [header, *self.per_class(names)])
        if self.confusion is not None:
            rows = [[name, *row] for name, row in zip(names, self.confusion.tolist(), strict=True)]
            _write_csv(folder / CONFUSION, [["actual / predicted", *names], *rows])
        if self.thresholds is not None:
            write_json(folder / THRESHOLDS, {"classes": names, "thresholds": self.thresholds})


def _write_csv(file: Path, rows: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_text(file, text.getvalue())
