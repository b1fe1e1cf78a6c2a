"""Labels of training nodes as hops: diffused so that no training row contains the label of its own node."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np

from sign.engines.base import NodeRows
from sign.errors import FieldError, SignError
from sign.graph.classification import Origin
from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import MotifCounter, Operator, Polynomial, Product
from sign.validation import Range, Seed, Validated

LETTER = "l"  # of label hops in the settings and names of hops


@dataclass(frozen=True)
class LabelFolds(Validated):
    """How training nodes are divided: into ``folds`` folds of about equal size, drawn with ``seed``.

    With ``by="groups"``, nodes of one group of the graph are in one fold.
    """

    folds: Annotated[int, Range(2, 1000)]
    seed: Seed
    by: Literal["nodes", "groups"] = "nodes"

    def of(self, graph: Graph, labelled: Array) -> Array:
        """Return the fold of each node; ``folds`` stands for those that are not ``labelled``.

        Folds depend on the number of labelled nodes, their groups and the seed, never on a label.

        Raises
        ------
        SignError
            If the graph has no groups to divide.
        """
        fold, rng = np.full(graph.nodes, self.folds, np.int64), np.random.default_rng(self.seed)
        if self.by == "nodes":
            fold[labelled] = rng.permutation(len(labelled)) % self.folds
            return fold
        if graph.groups is None:
            rule = f"{graph.name} has no groups of nodes; name them in dataset.groups, or use model.labels.by=nodes"
            raise SignError(f"model.labels.by=groups: {rule}")
        groups, number = np.unique(graph.groups[labelled], return_inverse=True)
        if len(groups) < 2:
            rule = "all training nodes are in one group, so none sees a label; use model.labels.by=nodes"
            raise SignError(f"model.labels.by=groups: {graph.name}: {rule}")
        sizes, order = np.bincount(number), rng.permutation(len(groups))
        before = np.empty_like(sizes)  # nodes of the groups that are drawn before
        before[order] = np.cumsum(sizes[order]) - sizes[order]
        fold[labelled] = (before * self.folds // len(labelled))[number]
        return fold


@dataclass(frozen=True)
class LabelDiffusion(Operator):
    r"""An operator B that is applied to the labels of the training nodes instead of the features.

    With the labels :math:`Y` of training nodes T, one column per class and 0 elsewhere, the row of a node outside of
    training is that of :math:`B^k Y`. A training node of fold f sees the labels of other folds only: its row is that of
    :math:`\frac{|T|}{|T \setminus f|} B^k Y^{(-f)}`, in which labels of f are 0. Its own label is in no power, whatever
    B is, and the factor gives its rows the size of other rows.

    To subtract the diagonal of :math:`B^k` would remove the own label as well, but leave a trace of it: where rows are
    nearly the same sum over many labels, the one class that is missing from a row is the label of the node. Folds make
    such rows miss the labels of many nodes.
    """

    name = "labels"
    operator: Operator
    folds: LabelFolds

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.operator.learns:
            rule = "learns its weights from labels, so it cannot diffuse them; choose another operator"
            raise FieldError(f"operators.{LETTER}", self.operator.name, rule)

    def matrix(self, graph: Graph) -> Matrix:
        """Return the matrix of the operator."""
        return self.operator.matrix(graph)

    def matrix_by(self, graph: Graph, count: MotifCounter) -> Matrix:
        """Return the matrix of the operator, with motifs counted by ``count``."""
        return self.operator.matrix_by(graph, count)

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Return B x."""
        return self.operator.apply(matrix, x, product)

    @property
    def reads(self) -> tuple[str, ...]:
        """The data of edges that the operator reads."""
        return self.operator.reads

    @property
    def products(self) -> int:
        """The number of products per power: once for each fold, and once with all labels."""
        return self.operator.products * (self.folds.folds + 1)

    @property
    def polynomial(self) -> Polynomial | None:
        """B as a polynomial of its matrix."""
        return self.operator.polynomial

    def resolve(self, inductive: bool) -> "LabelDiffusion":
        """Return the same diffusion with the resolved operator."""
        return LabelDiffusion(self.operator.resolve(inductive), self.folds)

    def describe(self) -> dict[str, Any]:
        """Return the description of the operator, and the folds."""
        return {"name": self.name, **asdict(self.folds), "operator": self.operator.describe()}


@dataclass(frozen=True, eq=False)
class VisibleLabels:
    """The labels of some training nodes times ``weight``, with zeros elsewhere; indexing returns dense blocks."""

    labels: Array
    classes: int
    visible: Array
    weight: float

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes × classes."""
        return len(self.labels), self.classes

    def __getitem__(self, part: tuple[slice, slice]) -> Floats:
        rows, columns = part
        visible = self.visible[rows]
        first, last, _ = columns.indices(self.classes)
        block = np.zeros((len(visible), last - first), np.float32)
        if self.labels.ndim == 2:
            block[visible] = self.labels[rows][visible, first:last]
            return block * np.float32(self.weight)
        labels = self.labels[rows]
        inside = np.flatnonzero(visible & (labels >= first) & (labels < last))
        block[inside, labels[inside] - first] = self.weight
        return block


def parts(origin: Origin, folds: LabelFolds, used: NodeRows) -> Iterator[tuple[Array, VisibleLabels]]:
    """Yield the used nodes in parts, with the labels that each part sees.

    Raises
    ------
    SignError
        If there is no label to see.
    """
    graph, (labelled, labels) = origin.graph, origin.labelled
    if len(labelled) < 2:
        raise SignError(
            f"{graph.name}: {len(labelled)} training nodes have labels to diffuse, but the model reads label hops "
            f"(model.{LETTER}); give it a graph with labelled training nodes"
        )
    fold = folds.of(graph, labelled)
    training = fold < folds.folds
    nodes = np.arange(graph.nodes) if used is None else used
    for number in range(folds.folds + 1):
        visible = training & (fold != number)
        weight = len(labelled) / max(int(visible.sum()), 1)
        if len(own := nodes[fold[nodes] == number]):
            yield own, VisibleLabels(labels, graph.classes, visible, weight)
