"""What every data set is: a frozen description that can be loaded."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sign.errors import FieldError
from sign.graph.classification import NodeClassification, classification_of
from sign.graph.csr import Array
from sign.graph.graph import Graph
from sign.validation import Validated


@dataclass(frozen=True, kw_only=True)
class Dataset(Validated, ABC):
    """A source of one graph. ``inductive`` chooses the protocol: see :mod:`sign.diffusion.precompute`."""

    name: str
    inductive: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    @abstractmethod
    def load(self) -> Graph:
        """Read or make the graph."""

    def content_digest(self) -> str | None:
        """Hash of the user's own files that the graph is read from; None where the settings determine the graph."""
        return None

    def classification(self, feature_scaling: str) -> NodeClassification:
        """What is to be learned on the graph."""
        return classification_of(self.load(), feature_scaling)


def check_name(name: str) -> None:
    """Refuse a name that could lead out of the folder that it names."""
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        raise FieldError("name", name, "names folders: use letters, digits, dots and hyphens")


def split_per_class(
    labels: Array, classes: int, train: int, val: int, seed: int
) -> tuple[Array, Array, Array]:
    """``train`` and ``val`` random nodes of each class; all the other nodes are for testing."""
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(labels == label)) for label in range(classes)]
    parts = (
        np.concatenate([nodes[:train] for nodes in drawn]),
        np.concatenate([nodes[train : train + val] for nodes in drawn]),
        np.concatenate([nodes[train + val :] for nodes in drawn]),
    )
    return tuple(np.sort(part) for part in parts)  # type: ignore[return-value]


def split_by_fraction(nodes: int, train: float, val: float, seed: int) -> tuple[Array, Array, Array]:
    """Random fractions of the nodes; what ``train`` and ``val`` leave is for testing."""
    order = np.random.default_rng(seed).permutation(nodes)
    first, second = round(train * nodes), round((train + val) * nodes)
    return np.sort(order[:first]), np.sort(order[first:second]), np.sort(order[second:])
