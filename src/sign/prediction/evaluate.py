"""The metrics of a checkpoint, on the graph of its run or on another one."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.graph.graph import SPLITS, Graph
from sign.models.architecture import from_plain
from sign.prediction.model import TrainedModel
from sign.prediction.smoothed import smoothed_predictions
from sign.smoothing.task import ScoresTask
from sign.training.datamodule import SIGNDataModule
from sign.training.device import takes_sparse_hops
from sign.training.fit import test_metrics

log = logging.getLogger(__name__)


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
        graph = model.with_classes(graph)
        if settings.smoothing.enabled:
            metrics = _smoothed_metrics(settings, model, graph)
            return {name: value for name, value in metrics.items() if name.split("/")[0] in splits}
        dataset = InMemory.of(graph)
    powers = model.operators(settings.powers)
    precomputation = replace(
        settings.precomputation, dataset=dataset, powers=powers, feature_scaling=model.feature_scaling
    )
    data = SIGNDataModule(precomputation, settings.seed)
    data.hop_scaling, data.batch_size = model.hop_scaling, settings.training.batch_size
    architecture = from_plain(model.task.hparams["architecture"])
    data.sparse_hops = takes_sparse_hops(architecture, settings.training, settings.device)
    data.prepare_data()
    data.setup("test")
    metrics = test_metrics(settings.device, settings.engine, data, model.task, Path(settings.store.root))
    return {name: value for name, value in metrics.items() if name.split("/")[0] in splits}


def _smoothed_metrics(settings: Settings, model: TrainedModel, graph: Graph) -> dict[str, float]:
    """The metrics of smoothed predictions, for which settings are chosen on the validation nodes of the graph."""
    with settings.engine.limits(Path(settings.store.root)):
        smoothed = smoothed_predictions(settings, model, graph)
    log.info("propagation: %s", smoothed)
    task = ScoresTask(smoothed.scores, graph, settings.training)
    return test_metrics(settings.device, settings.engine, None, task, Path(settings.store.root))
