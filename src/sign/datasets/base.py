"""The contract of data sets: a frozen description that can be loaded."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sign.graph.classification import NodeClassification, classification_of
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.validation import Validated, check_name


@dataclass(frozen=True, kw_only=True)
class Dataset(Validated, ABC):
    """A source of one graph.

    Parameters
    ----------
    name
        The name of the data set in folders and tables.
    inductive
        The protocol: whether training rows see the graph of the training nodes only
        (``sign.graph.classification``).
    """

    name: str
    inductive: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    @abstractmethod
    def load(self) -> Graph:
        """Read or generate the graph.

        Returns
        -------
        Graph
            The graph with its features, labels and splits.
        """

    def load_for_prediction(self) -> Graph:
        """Read or generate the graph for scoring.

        Returns
        -------
        Graph
            The graph; missing labels and splits are not an error.
        """
        return self.load()

    def content_digest(self) -> str | None:
        """Hash the user's own files that the graph is read from.

        Returns
        -------
        str or None
            The hash; None where the settings determine the graph.
        """
        return None

    def classification(self, feature_scaling: str | FeatureScaling) -> NodeClassification:
        """Load the graph and build its node classification; a method of scaling is fitted on the training nodes."""
        return classification_of(self.load(), feature_scaling)
