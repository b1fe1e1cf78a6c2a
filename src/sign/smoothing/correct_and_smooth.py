"""Correct and Smooth (Huang et al., arXiv 2010.13993)."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from sign.engines.base import Engine
from sign.errors import FieldError, SignError
from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.smoothing.base import Smoothed, Smoothing
from sign.smoothing.labels import one_hot, validation_score
from sign.smoothing.propagation import Normalization, clamp, propagate
from sign.system import arrays
from sign.validation import Count, Range, check

AUTO = "auto"
LARGEST_SCALE = 1000.0  # a node that residuals hardly reach is not corrected by more than them
Weight = Annotated[float, Range(0, 1)]
LISTS = ("correct_alpha", "correct_normalization", "scale", "smooth_alpha", "smooth_normalization")


@dataclass(frozen=True)
class CorrectAndSmooth(Smoothing):
    r"""Residuals of the training nodes are spread and added to the predictions, which are then smoothed.

    With the probabilities :math:`Z`, the labels :math:`Y` of the training nodes :math:`L`, and :math:`S` the adjacency
    without self-loops, normalised by name:

    1. The residuals :math:`E = Y - Z` on :math:`L`, 0 elsewhere, are spread: :math:`\hat E` is the result of
       ``iterations`` steps :math:`\hat E \leftarrow \alpha_1 S \hat E + (1 - \alpha_1) E`.
    2. Node i is corrected: :math:`Z_i + s \hat E_i` with a fixed ``scale`` s, for which the residuals of training nodes
       are kept in every step; with ``auto``, the length of each row is the mean of those of the residuals:
       :math:`s_i = \frac{1}{|L|} \sum_{j \in L} \|E_j\|_1 / \|\hat E_i\|_1`.
    3. With :math:`G_0 = Y` on :math:`L` and the corrected predictions elsewhere, ``iterations`` steps
       :math:`G \leftarrow \alpha_2 S G + (1 - \alpha_2) G_0` give the result, within 0 and 1.

    Each setting but ``iterations`` is one value or a list of them. All combinations are tried, and the first of those
    with the highest accuracy on the validation nodes (micro-F1 for multilabel data) is used. An alpha of 0 leaves its
    step out. No label of a validation or test node is propagated.
    """

    correct_alpha: list[Weight]
    correct_normalization: list[Normalization]
    scale: list[float | str]
    smooth_alpha: list[Weight]
    smooth_normalization: list[Normalization]
    iterations: Count

    def __post_init__(self) -> None:
        for name in LISTS:
            value: Any = getattr(self, name)
            values = value if isinstance(value, list) else [value]
            if not values:
                raise FieldError(name, value, "must have at least one value")
            object.__setattr__(self, name, values)
        super().__post_init__()
        for scale in self.scale:
            if isinstance(scale, str) and scale != AUTO:
                raise FieldError("scale", scale, "must be auto or a number >= 0")
            if scale != AUTO:
                check("scale", scale, Annotated[float, Range(0)])

    def apply(self, graph: Graph, probabilities: Floats, engine: Engine) -> Smoothed:
        """Return the scores of the best combination."""
        check_labels(graph)
        best: Smoothed | None = None
        for correction, corrected in self._corrected(graph, probabilities, engine):
            for alpha, normalization in _steps(self.smooth_alpha, self.smooth_normalization):
                scores = smooth(graph, corrected, alpha, normalization, self.iterations, engine)
                score = validation_score(graph, scores)
                if best is None or score > best.validation:
                    smoothing = {"smooth_alpha": alpha, "smooth_normalization": normalization}
                    best = Smoothed(scores, {**correction, **smoothing, "iterations": self.iterations}, score)
        assert best is not None
        return best

    def _corrected(
        self, graph: Graph, probabilities: Floats, engine: Engine
    ) -> Iterator[tuple[dict[str, Any], Floats]]:
        """Yield the settings of each correction, and the corrected predictions."""
        for alpha, normalization in _steps(self.correct_alpha, self.correct_normalization):
            for scale in self.scale[: None if alpha else 1]:
                settings = {"correct_alpha": alpha, "correct_normalization": normalization, "scale": scale}
                if alpha:
                    arguments = (alpha, normalization, scale, self.iterations, engine)
                    yield settings, correct(graph, probabilities, *arguments)
                else:
                    yield settings, probabilities


def _steps(alphas: list[float], normalizations: list[Normalization]) -> Iterator[tuple[float, Normalization]]:
    """Yield all combinations; of those without a step, one."""
    for alpha, normalization in itertools.product(alphas, normalizations):
        if alpha or normalization == normalizations[0]:
            yield alpha, normalization


def check_labels(graph: Graph) -> None:
    """Raise SignError unless the graph has labels to propagate, and others to choose settings by."""
    for split in ("train", "val"):
        if not len(graph.nodes_of(split)):
            raise SignError(
                f"{graph.name}: the {split} split is empty, but labels of training nodes are propagated, and settings "
                "are chosen on validation nodes; use smoothing=none, or a graph with both"
            )


def correct(
    graph: Graph,
    probabilities: Floats,
    alpha: float,
    normalization: Normalization,
    scale: float | str,
    iterations: int,
    engine: Engine,
) -> Floats:
    """Return the probabilities plus the spread and scaled residuals of the training nodes."""
    train, labels = graph.train, one_hot(graph.labels[graph.train], graph.classes)
    residuals = labels - probabilities[train]
    start: Floats = arrays.empty(probabilities.shape, np.float32)
    start[:] = 0
    start[train] = residuals
    automatic = scale == AUTO

    def keep(x: Floats, columns: slice) -> None:
        x[train] = residuals[:, columns]

    spread = propagate(graph, normalization, start, alpha, iterations, engine, clamp(-1, 1) if automatic else keep)
    length = np.abs(residuals).sum(axis=1).mean()
    for part in arrays.chunk_slices(spread):
        factor: Any = scale
        if automatic:
            sums = np.abs(spread[part]).sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = length / sums
            factor = np.where(np.isfinite(factor) & (factor <= LARGEST_SCALE), factor, 1).astype(np.float32)
        spread[part] *= np.asarray(factor, np.float32)
        spread[part] += probabilities[part]
    return spread


def smooth(
    graph: Graph, scores: Floats, alpha: float, normalization: Normalization, iterations: int, engine: Engine
) -> Floats:
    """Return the scores smoothed with those of neighbours, from the labels where they are known."""
    start = arrays.copy_rows(scores)
    start[graph.train] = one_hot(graph.labels[graph.train], graph.classes)
    if not alpha:
        return start
    return propagate(graph, normalization, start, alpha, iterations, engine, clamp(0, 1))
