"""Scores of nodes ▶ the columns of a table: ids, classes by name, probabilities. Executors of Spark use it, too."""

from dataclasses import dataclass

import numpy as np

from sign.graph.csr import Array
from sign.prediction.outputs import Columns
from sign.prediction.scoring import probabilities
from sign.training.thresholds import logit


@dataclass(frozen=True)
class OutputColumns:
    """Which columns a table has, as :class:`sign.prediction.settings.Prediction` names them.

    ``labels`` are the names of the classes, ``hops`` the columns of each hop of a row.
    """

    what: str
    probabilities: str
    top: int
    labels: list[str]
    hops: dict[str, int]
    multilabel: bool
    thresholds: list[float]

    def of(self, ids: Array, values: Array) -> Columns:
        """Return a block of the table, ids first, for the scores of some nodes."""
        columns: dict[str, Array | list[list[str]]] = {"id": ids}
        if self.what == "hops":
            return columns | named(
                values, [f"{hop}_{number}" for hop, width in self.hops.items() for number in range(width)]
            )
        if self.what == "embeddings":
            return columns | named(values, [f"embedding_{number}" for number in range(values.shape[1])])
        names = np.array(self.labels, dtype=object)
        if self.multilabel:
            columns["labels"] = [names[chosen].tolist() for chosen in decide(values, self.thresholds)]
        values = probabilities(values, self.multilabel)
        if not self.multilabel or self.top > 1:
            columns |= _top(values, self.top, names)
        if self.probabilities == "all":
            columns |= named(values, [f"p_{name}" for name in names])
        return columns


def decide(logits: Array, thresholds: list[float]) -> Array:
    """Which labels each row of a multilabel model has."""
    return logits > np.array([logit(threshold) for threshold in thresholds])


def named(values: Array, names: list[str]) -> dict[str, Array]:
    """The columns of a matrix by name."""
    return {name: np.ascontiguousarray(values[:, number]) for number, name in enumerate(names)}


def _top(values: Array, top: int, names: Array) -> dict[str, Array]:
    """The most probable classes by name, with their probabilities."""
    order = most_probable(values, top)
    columns = {}
    for rank, numbers in enumerate(order.T, start=1):
        suffix = f"_{rank}" if top > 1 else ""
        columns[f"class{suffix}"] = names[numbers]
        columns[f"probability{suffix}"] = np.take_along_axis(values, numbers[:, None], 1)[:, 0]
    return columns


def most_probable(values: Array, top: int) -> Array:
    """The numbers of the ``top`` most probable classes of each row, in descending order; ties by number."""
    if top == 1:
        return np.asarray(values.argmax(axis=1)[:, None])
    return np.argsort(-values, axis=1, kind="stable")[:, :top]
