"""Self-training in stages: each stage also trains on the confident predictions of the stage before it."""

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from sign.config.settings import Settings
from sign.engines.progress import progress_bar
from sign.experiments.preflight import CheckpointError
from sign.graph.graph import SPLITS
from sign.graph.pseudo_labels import PseudoLabels
from sign.prediction.model import TrainedModel
from sign.prediction.scoring import StoredRows, probabilities, score_of, scores
from sign.runs import CHECKPOINTS, CONFUSION, PER_CLASS, PSEUDO_LABELS, SMOOTHING, STAGE, STAGES, Run
from sign.system.atomic_files import write_bytes, write_errors, write_json
from sign.training.distributed import broadcast, rank
from sign.training.settings import is_minimised

CANDIDATES = ("val", "test")  # splits whose nodes may get a pseudo label
RESULTS = (PER_CLASS, CONFUSION, SMOOTHING)  # files of the result, which are those of the best stage
log = logging.getLogger(__name__)


def self_train(
    settings: Settings, folder: Path, metrics: dict[str, float], train: Callable[[Settings], dict[str, float]]
) -> dict[str, float]:
    """Train the stages after the first, each in a folder of its own; return the metrics of the best one.

    Each begins with new weights, or continues from the checkpoint in its folder if its pseudo labels are the same. The
    metrics of stage k are among those that are returned, as ``stage<k>/…``.

    Parameters
    ----------
    settings, folder, metrics
        Those of the first stage, which has been trained.
    train
        Trains one stage: :func:`sign.experiments.run.run`.
    """
    stages, before = [{**metrics, "pseudo_labels": 0.0}], settings
    for number in range(2, settings.training.stages + 1):
        stage = folder / STAGE.format(number=number)
        added = broadcast(0 if rank() else _write_pseudo_labels(before, Run(stage)))
        confidence = settings.training.confidence
        log.info("stage %d: %s predictions have a probability of %s or more", number, f"{added:,}", confidence)
        if not added:
            break
        last = broadcast(Run(stage).last_checkpoint)
        before = replace(settings, run_folder=stage, ckpt_path=last, pseudo_labels=stage / PSEUDO_LABELS)
        try:
            trained = train(before)
        except CheckpointError as error:  # such as one that a full disk cut short
            log.info("stage %d: starting from scratch, because of %s", number, error)
            before = replace(before, ckpt_path=None)
            trained = train(before)
        stages.append({**trained, "pseudo_labels": float(added)})
    monitor = settings.training.monitor
    values = [stage[monitor] if is_minimised(monitor) else -stage[monitor] for stage in stages]
    best = values.index(min(values)) + 1
    log.info("stage %d of %d has the best %s: %.4f", best, len(stages), monitor, stages[best - 1][monitor])
    if not rank():
        _write_result(folder, best)
    result = {f"stage{number}/{name}": stage[name] for number, stage in enumerate(stages, 1) for name in _shown(stage)}
    return stages[best - 1] | result | {"stage": best}


def _shown(metrics: dict[str, float]) -> list[str]:
    """The names of the metrics of each stage that are kept."""
    return [name for name in metrics if name.split("/")[0] in (*SPLITS, "epochs", "pseudo_labels")]


def _write_result(folder: Path, best: int) -> None:
    """Record the best stage, and copy its results by class to the run folder."""
    with write_errors(folder, "paths.output_dir"):
        write_json(folder / STAGES, {"best": best})
        if best > 1:
            source = folder / STAGE.format(number=best)
            for file in map(source.joinpath, RESULTS):
                if file.is_file():
                    write_bytes(folder / file.name, file.read_bytes())


def _write_pseudo_labels(before: Settings, stage: Run) -> int:
    """Write the pseudo labels of a stage, unless it has the same already, and return their number.

    Whatever was trained on others is removed.
    """
    pseudo = confident_predictions(before)
    if stage.pseudo_labels and _same(PseudoLabels.load(stage.pseudo_labels), pseudo):
        return len(pseudo.nodes)
    with write_errors(stage.folder, "paths.output_dir"):
        shutil.rmtree(stage.folder, ignore_errors=True)
        if len(pseudo.nodes):
            stage.folder.mkdir()
            pseudo.save(stage.folder / PSEUDO_LABELS)
    return len(pseudo.nodes)


def confident_predictions(settings: Settings) -> PseudoLabels:
    """Return the predictions of a trained stage that have at least the probability ``training.confidence``.

    They are those of the validation and test nodes, whose own labels are not read.
    """
    assert settings.run_folder
    model = TrainedModel.load(settings.run_folder / CHECKPOINTS)  # of this stage, not of the best one
    classification, hops = settings.precomputation.run()
    (scope,) = classification.scopes
    nodes, labels = [], []
    with settings.engine.limits(Path(settings.store.root)):
        for split in CANDIDATES:
            rows = StoredRows(hops, split, model.hop_scaling)
            with progress_bar("pseudo labels", len(rows), "nodes"):
                for part, logits in scores(rows, score_of(model)):
                    values = probabilities(logits, multilabel=False)
                    confident = values.max(axis=1) >= settings.training.confidence
                    nodes.append(scope.rows[split][part][confident])
                    labels.append(values.argmax(axis=1)[confident])
    found, classes = np.concatenate(nodes), np.concatenate(labels)
    order = np.argsort(found)
    return PseudoLabels(found[order], classes[order], scope.source["adjacency"])


def _same(ours: PseudoLabels, theirs: PseudoLabels) -> bool:
    return np.array_equal(ours.nodes, theirs.nodes) and np.array_equal(ours.labels, theirs.labels)
