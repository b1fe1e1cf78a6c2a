"""Propagation after training: of the predictions that are smoothed, or of labels alone."""

import logging
import time
from pathlib import Path

from sign.baselines.datamodule import BaselineDataModule
from sign.baselines.label_datamodule import LabelDataModule
from sign.baselines.task import BaselineTask
from sign.config.settings import Settings
from sign.graph.classification import NodeClassification
from sign.graph.csr import Floats
from sign.graph.graph import SPLITS, Graph
from sign.prediction.model import TrainedModel
from sign.prediction.scoring import probabilities
from sign.prediction.smoothed import probabilities_of_all_nodes
from sign.runs import RAW, SMOOTHING
from sign.smoothing.base import Smoothed
from sign.smoothing.task import ScoresTask
from sign.system import memory_peak
from sign.system.atomic_files import write_json
from sign.training.fit import test_metrics
from sign.training.node_datamodule import NodeDataModule
from sign.training.node_task import NodeTask
from sign.training.task import SIGNTask

log = logging.getLogger(__name__)


def smooth(
    settings: Settings, data: NodeDataModule, task: NodeTask, folder: Path, metrics: dict[str, float]
) -> dict[str, float]:
    """Smooth the predictions of a trained network; return its ``metrics`` as ``raw/…``, and those after smoothing."""
    started = time.perf_counter()
    with settings.engine.limits(Path(settings.store.root)):
        graph = settings.dataset.load()
        smoothed = settings.smoothing.apply(graph, _probabilities(settings, data, task, graph), settings.engine)
        seconds = time.perf_counter() - started
        after = _test(settings, graph, data.classification, smoothed, folder)
    raw = {f"{RAW}{name}": value for name, value in metrics.items() if name.split("/")[0] in SPLITS}
    return metrics | raw | after | {"seconds/smoothing": seconds}


def propagate_labels(settings: Settings, data: LabelDataModule, folder: Path) -> dict[str, float]:
    """Propagate the labels of the training nodes; return the metrics that a trained model has, too."""
    started = time.perf_counter()
    with settings.engine.limits(Path(settings.store.root)):
        propagated = data.model.propagate(data.graph, settings.engine)
        seconds = time.perf_counter() - started
        metrics = _test(settings, data.graph, data.classification, propagated, folder)
    return metrics | {
        "epochs": 0,
        "parameters": 0,
        "seconds/precompute": data.seconds,
        "seconds/epoch": 0.0,
        "seconds/inference": seconds,
        "seconds/inference_all": seconds,
        **memory_peak.metrics(),
    }


def _probabilities(settings: Settings, data: NodeDataModule, task: NodeTask, graph: Graph) -> Floats:
    """The probabilities that a trained network gives to all nodes of the graph."""
    if isinstance(data, BaselineDataModule):
        assert isinstance(task, BaselineTask)
        logits, _ = data.logits(task.network, task.device, SPLITS)
        return probabilities(logits[-graph.nodes :].numpy(), task.multilabel)
    assert isinstance(task, SIGNTask)
    return probabilities_of_all_nodes(settings, TrainedModel.of(task), graph)


def _test(
    settings: Settings, graph: Graph, classification: NodeClassification, smoothed: Smoothed, folder: Path
) -> dict[str, float]:
    """The metrics of scores on every split; writes the results by class, and the settings that were chosen."""
    log.info("propagation: %s", smoothed)
    task = ScoresTask(smoothed.scores, graph, settings.training, classification.evaluator)
    metrics = test_metrics(settings.device, settings.engine, None, task, Path(settings.store.root))
    task.class_results.write(folder, classification.class_names)
    write_json(folder / SMOOTHING, {**smoothed.chosen, "validation": smoothed.validation})
    return metrics
