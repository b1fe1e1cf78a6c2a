"""What is known about a graph before training: the input of the rule that chooses defaults."""

from dataclasses import dataclass

import numpy as np

from sign.graph.graph import Graph

SAMPLE_BYTES = 1 << 24  # of training rows that describe the features: a large graph is not read as a whole


@dataclass(frozen=True)
class Profile:
    """Sizes of the training data and the kind of the features.

    ``density`` is the fraction of features that are not zero, ``signed`` whether one is negative, ``column_ratio`` the
    largest absolute value of the columns over their median one: 1 for binary features, large if columns have units of
    their own (such as an age and an income).
    """

    training_rows: int
    classes: int
    multilabel: bool
    features: int
    density: float
    signed: bool
    column_ratio: float

    def __str__(self) -> str:
        rows = f"{self.training_rows:,} training row{'s' * (self.training_rows != 1)}"
        kind = "signed" if self.signed else "non-negative"
        classes = f"{self.classes} {'labels' if self.multilabel else 'classes'}"
        return f"{rows}, {classes}, {self.features:,} {kind} features of which {self.density:.1%} are not zero"


def profile_of(graph: Graph) -> Profile:
    """Describe a graph by its training rows, or ``SAMPLE_BYTES`` of them that are evenly spaced."""
    count = min(len(graph.train), max(1, SAMPLE_BYTES // (4 * graph.features.shape[1])))
    picked = np.linspace(0, len(graph.train) - 1, count).astype(np.int64)
    rows = np.asarray(graph.features[graph.train[picked]], np.float32)
    largest = np.abs(rows).max(axis=0)
    largest = largest[largest > 0]
    return Profile(
        training_rows=len(graph.train),
        classes=graph.classes,
        multilabel=graph.multilabel,
        features=rows.shape[1],
        density=float(np.count_nonzero(rows) / rows.size),
        signed=bool((rows < 0).any()),
        column_ratio=float(largest.max() / np.median(largest)) if len(largest) else 1.0,
    )
