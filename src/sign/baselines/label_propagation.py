"""Label propagation (Zhu and Ghahramani 2002; Zhou et al. 2003): labels spread over edges, nothing is trained."""

from dataclasses import dataclass, replace

import numpy as np

from sign.baselines.base import GraphModel
from sign.datasets.base import Dataset
from sign.datasets.exported_hops import ExportedHops
from sign.engines.base import Engine
from sign.errors import SignError
from sign.graph.graph import Graph
from sign.smoothing.base import Smoothed
from sign.smoothing.correct_and_smooth import CorrectAndSmooth, Weight
from sign.smoothing.propagation import Normalization
from sign.system import arrays
from sign.validation import Count


@dataclass(frozen=True, kw_only=True)
class LabelPropagation(GraphModel):
    r"""The labels of the training nodes, propagated; features are not read.

    With :math:`Y` the labels of training nodes and 0 elsewhere, ``iterations`` steps
    :math:`G \leftarrow \alpha S G + (1 - \alpha) Y`, where :math:`S` is the adjacency without self-loops, normalised by
    name. Of several values of ``alpha`` or ``normalization``, the best on the validation nodes are used. It is the
    second step of :class:`sign.smoothing.correct_and_smooth.CorrectAndSmooth`, applied to predictions of zero.

    Whatever the protocol, labels are propagated over all edges: nothing is trained, so no training could have seen
    held-out nodes.
    """

    alpha: list[Weight]
    normalization: list[Normalization]
    iterations: Count

    def __post_init__(self) -> None:
        smoothing = self.smoothing
        object.__setattr__(self, "alpha", smoothing.smooth_alpha)
        object.__setattr__(self, "normalization", smoothing.smooth_normalization)
        super().__post_init__()

    @property
    def smoothing(self) -> CorrectAndSmooth:
        """The step that propagates."""
        return CorrectAndSmooth([0.0], ["symmetric"], [1.0], self.alpha, self.normalization, self.iterations)

    def check_dataset(self, dataset: Dataset) -> None:
        """Refuse hops without a graph."""
        if isinstance(dataset, ExportedHops):
            raise SignError(
                f"model={self.name}: needs the graph, which exported hops do not have; "
                "use the data set that they were exported from"
            )

    def propagate(self, graph: Graph, engine: Engine) -> Smoothed:
        """Return the propagated labels of all nodes."""
        nothing = arrays.empty((graph.nodes, graph.classes), np.float32)
        nothing[:] = 0
        smoothed = self.smoothing.apply(graph, nothing, engine)
        return replace(
            smoothed, chosen={name: smoothed.chosen[f"smooth_{name}"] for name in ("alpha", "normalization")}
        )
