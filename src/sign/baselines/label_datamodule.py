"""The data module of a model that is not trained: the graph and its labels."""

from pathlib import Path
from typing import Any

from sign.baselines.label_propagation import LabelPropagation
from sign.datasets.base import Dataset
from sign.engines.base import Engine
from sign.graph.graph import Graph
from sign.training.node_datamodule import NodeDataModule


class LabelDataModule(NodeDataModule):
    """The graph of a data set; it serves no batches. ``prepare_data`` sets ``graph``, too."""

    graph: Graph

    def __init__(self, model: LabelPropagation, dataset: Dataset, engine: Engine, scratch: Path, seed: int) -> None:
        super().__init__(seed)
        self.model, self.dataset, self.engine, self.scratch = model, dataset, engine, scratch

    @property
    def source(self) -> tuple[Any, ...]:
        """What the data depend on; the seed changes nothing."""
        return self.model, self.dataset, self.engine

    def prepare_data(self) -> None:
        """Load the graph."""
        if not hasattr(self, "graph"):
            self.model.check_dataset(self.dataset)
            with self.engine.limits(self.scratch):
                self.classification = self.dataset.classification("none")
            origin = self.classification.scopes[-1].origin
            assert origin is not None
            self.graph = origin.graph

    def reuse(self, seed: int) -> None:
        """Serve the next run of a series, which has the same result."""
        self.seed = seed

    @property
    def seconds(self) -> float:
        """There is no preprocessing."""
        return 0.0

    def records(self) -> dict[str, Any]:
        """No hops are stored."""
        return {"hops": [], "products": 0, "rows_computed": 0, "rows_saved": 0}

    def __str__(self) -> str:
        return f"{len(self.graph.train):,} labels to propagate"
