"""The metrics of a checkpoint, on the graph of its run or on another one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.graph.graph import SPLITS
from sign.prediction.model import TrainedModel
from sign.training.datamodule import SIGNDataModule
from sign.training.fit import test_metrics


def evaluate(settings: Settings, model: TrainedModel, splits: Sequence[str] = SPLITS) -> dict[str, float]:
    """Recompute the metrics of the splits, by the same steps as at the end of training.

    Splits without nodes have no metrics; of one split alone, that is an error.
    """
    model.check_hops(settings)
    dataset = settings.dataset
    if not isinstance(dataset, ExportedHops):
        with settings.engine.limits(Path(settings.store.root)):
            graph = model.as_trained(dataset).load()
        model.check_graph(graph)
        splits = [split for split in splits if len(graph.nodes_of(split))]
        if not splits:
            raise SignError(f"{graph.name}: has no labelled nodes in this split; choose another one")
        dataset = InMemory.of(model.with_classes(graph))
    powers = model.operators(settings.powers)
    precomputation = replace(
        settings.precomputation, dataset=dataset, powers=powers, feature_scaling=model.feature_scaling
    )
    data = SIGNDataModule(precomputation, settings.seed)
    data.hop_scaling, data.batch_size = model.hop_scaling, settings.training.batch_size
    data.prepare_data()
    data.setup("test")
    metrics = test_metrics(settings.device, data, model.task, Path(settings.store.root))
    return {name: value for name, value in metrics.items() if name.split("/")[0] in splits}
