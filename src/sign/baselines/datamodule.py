"""The data module of a baseline: the graph itself, the batches that are sampled from it, and nodes to evaluate."""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sign.baselines.base import Baseline
from sign.baselines.batches import Batches, EpochLoader, TrainingBatch
from sign.baselines.evaluation import logits_of_nodes
from sign.baselines.graph_data import GraphData
from sign.baselines.network import Network
from sign.datasets.base import Dataset
from sign.engines.base import Engine
from sign.errors import FieldError
from sign.graph.graph import SPLITS
from sign.training.node_datamodule import NodeDataModule
from sign.training.rows import RowLoader

EVALUATION_BATCH = 1 << 14  # nodes whose logits are looked up at a time

log = logging.getLogger(__name__)


class BaselineDataModule(NodeDataModule):
    """Batches of a baseline, and the nodes of each split.

    An inductive data set has two graphs, in the order of its scopes: training sees only the first. Nodes are numbered
    through all graphs, so that :meth:`logits` and the evaluation loaders agree.
    """

    batches: Batches

    def __init__(
        self, baseline: Baseline, dataset: Dataset, engine: Engine, feature_scaling: str, scratch: Path, seed: int
    ) -> None:
        super().__init__(seed)
        self.baseline, self.dataset, self.engine = baseline, dataset, engine
        self.feature_scaling, self.scratch = feature_scaling, scratch
        self.graphs: list[GraphData] = []
        self._seconds = 0.0

    @property
    def source(self) -> tuple[Any, ...]:
        """What the data depend on, besides the seed."""
        return self.baseline, self.dataset, self.engine, self.feature_scaling

    def prepare_data(self) -> None:
        """Load the graph and its features, and compute the first product if the baseline has one."""
        if self.graphs:
            return
        self.baseline.check_dataset(self.dataset)
        with self.engine.limits(self.scratch):
            self.classification = self.dataset.classification(self.feature_scaling)
            log.info("%s: %s", self.classification.name, self.classification.summary)
            multilabel = self.classification.multilabel
            self.graphs = [
                GraphData(scope, self.baseline, self.engine, multilabel) for scope in self.classification.scopes
            ]

    def setup(self, stage: str) -> None:
        """Prepare the batches, and make an evaluation loader for each split."""
        if self.loaders:
            return
        started = time.perf_counter()
        try:
            self.batches = self.baseline.batches(self.graphs[0], self.batch_size, self.seed)
        except FieldError as error:  # a setting that does not suit the graph
            raise error.within("model") from None
        self._seconds = time.perf_counter() - started
        first = 0
        nodes: dict[str, Tensor] = {}
        for data in self.graphs:
            nodes |= {split: torch.from_numpy(rows) + first for split, rows in data.scope.rows.items()}
            first += data.nodes
        self.loaders = {split: RowLoader(nodes[split], self.labels(split), EVALUATION_BATCH) for split in SPLITS}

    def reuse(self, seed: int) -> None:
        """Serve the next run of a series; what depends on the seed is prepared again."""
        self.seed, self.loaders = seed, {}
        self.setup("fit")

    def train_dataloader(self) -> EpochLoader:
        """Batches of the training graph."""
        return EpochLoader(self.batches, self._epoch)

    def _epoch(self) -> Iterator[TrainingBatch]:
        """The batches of the present epoch: they depend on seed, epoch and network only, so a run can be resumed."""
        assert self.trainer is not None
        network: Any = self.trainer.lightning_module.network
        return self.batches.epoch(self.sampling_epoch, network)

    @property
    def features(self) -> int:
        """Columns of the inputs of the network."""
        return int(self.graphs[0].inputs.shape[1])

    @property
    def seconds(self) -> float:
        """The time that the preprocessing took: the first product, clusters, normalisation, embeddings."""
        return self._seconds + sum(data.seconds for data in self.graphs)

    def records(self) -> dict[str, Any]:
        """No hops are stored."""
        return {"hops": [], "products": 0, "rows_computed": 0, "rows_saved": 0}

    def __str__(self) -> str:
        count = len(self.batches)
        return f"{count} batch{'es' * (count != 1)} per epoch, preprocessing took {self.seconds:.2f} s"

    def logits(self, network: Network, device: torch.device, splits: Sequence[str]) -> tuple[Tensor, list[float]]:
        """Return outputs with a row per node: those of some splits, or of all nodes if all splits are named.

        Rows of other nodes may have any content. The second value is the time that each graph with nodes of these
        splits took; the last one has the test nodes.
        """
        parts, seconds = [], []
        for data in self.graphs:
            if rows := [rows for split, rows in data.scope.rows.items() if split in splits]:
                started = time.perf_counter()
                nodes = None if {*splits} == {*SPLITS} else np.sort(np.concatenate(rows))
                with self.engine.limits(self.scratch):
                    parts.append(logits_of_nodes(network, data, self.engine, device, nodes))
                seconds.append(time.perf_counter() - started)
            else:
                parts.append(torch.zeros(1, self.classification.classes).expand(data.nodes, -1))
        return (parts[0] if len(parts) == 1 else torch.cat(parts)), seconds
