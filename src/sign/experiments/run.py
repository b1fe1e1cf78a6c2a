"""One run, from settings to the metrics in its folder."""

import logging
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf
from pytorch_lightning.loggers import Logger

import sign
from sign.baselines.base import Baseline
from sign.baselines.datamodule import BaselineDataModule
from sign.baselines.label_datamodule import LabelDataModule
from sign.baselines.label_propagation import LabelPropagation
from sign.baselines.task import BaselineTask
from sign.config.defaults import automatic, explain, resolve
from sign.config.resume import run_folder_of
from sign.config.settings import Settings
from sign.experiments.preflight import check_checkpoint, check_data, check_settings
from sign.experiments.propagate import propagate_labels, smooth
from sign.experiments.stages import self_train
from sign.runs import CHECKPOINTS, CONFIG, METRICS, RUN, Run
from sign.system import memory_peak
from sign.system.atomic_files import create_unique_folder, write_errors, write_json, write_text
from sign.system.program import command_line
from sign.tracking.base import RunInfo
from sign.training.datamodule import SIGNDataModule
from sign.training.device import free_bytes, resident_dtype, takes_sparse_hops, training_device
from sign.training.distributed import broadcast, current_rank, on_failure, rank, rank_zero_first
from sign.training.fit import fit_and_test
from sign.training.node_datamodule import NodeDataModule
from sign.training.node_task import NodeTask
from sign.training.placement import Placement, Room, place
from sign.training.task import SIGNTask

PACKAGES = ("torch", "pytorch-lightning", "numpy", "numba")  # whose versions run.json records
log = logging.getLogger(__name__)


def run(settings: Settings, data: NodeDataModule | None = None) -> dict[str, float]:
    """Train one network and test its best checkpoint; returns the metrics, which the run folder holds as well.

    Parameters
    ----------
    settings
        What to train, from :func:`sign.config.configure.configure`.
    data
        The result of :func:`prepare` for these settings, to share it between runs; None: prepare it.
    """
    data = data or prepare(settings)
    settings = with_placement(resolve(settings, data.classification), data.placement)
    pl.seed_everything(settings.seed, verbose=False)
    task = None if isinstance(data, LabelDataModule) else make_task(settings, data)
    if settings.ckpt_path and task:
        check_checkpoint(settings.ckpt_path, task)
    folder = broadcast(Path() if rank() else create_run_folder(settings, data))
    log.info(f"{settings.title}: {data}")
    if not settings.run_folder:
        log.info(f"run folder: {folder}")
        on_failure(f"resume with: {command_line('train')} ckpt_path={folder / CHECKPOINTS / 'last.ckpt'}")
    loggers = [] if rank() else settings.tracker.start(run_info(settings, folder))
    try:
        if task:
            metrics = train(settings, data, task, folder, loggers)
            if settings.training.stages > 1 and not settings.pseudo_labels:
                data.release()  # each stage has rows of its own
                metrics = self_train(replace(settings, run_folder=folder), folder, metrics, run)
        else:
            assert isinstance(data, LabelDataModule)
            metrics = propagate_labels(settings, data, folder)
        if not rank():
            with write_errors(folder, "paths.output_dir"):
                write_json(folder / METRICS, dict(sorted(metrics.items())))
    finally:
        if not rank():
            settings.tracker.finish(loggers, Run(folder), data.manifests)
    return metrics


def train(
    settings: Settings, data: NodeDataModule, task: NodeTask, folder: Path, loggers: list[Logger]
) -> dict[str, float]:
    """Fit and test a network, and smooth its predictions if the settings say so; returns the metrics."""
    metrics = fit_and_test(settings.training, settings.device, data, task, folder, loggers, settings.ckpt_path)
    return smooth(settings, data, task, folder, metrics) if settings.smoothing.enabled else metrics


def prepare(settings: Settings) -> NodeDataModule:
    """Check the settings, load the data, compute the missing hops, open all of them, and check the data.

    Settings that are ``auto`` are chosen from the data: :func:`sign.config.defaults.resolve`.
    """
    memory_peak.watch()
    check_settings(settings)
    data = data_module(settings)
    with rank_zero_first():
        data.prepare_data()
    if automatic(settings.config):
        log.info(explain(settings, data.classification))
        settings = resolve(settings, data.classification)
        check_settings(settings)
    check_data(settings, data.classification)
    data.hop_scaling, data.batch_size = settings.scaling.hops, settings.training.batch_size
    if isinstance(data, SIGNDataModule):
        data.placement = choose_placement(settings, data)
    data.setup("fit")
    return data


def choose_placement(settings: Settings, data: SIGNDataModule) -> Placement:
    """Decide where rows are held and how they are shuffled: by rank 0, for all ranks."""
    data.device = training_device(settings.device)
    data.sparse_hops = takes_sparse_hops(settings.architecture, settings.training, settings.device)
    data.dtype = resident_dtype(settings.device.precision, settings.store.dtype, settings.scaling.hops)
    if rank():
        return broadcast(data.placement)
    free = free_bytes(data.device)
    free_rows = None if free is None else free * torch.float32.itemsize / data.dtype.itemsize
    room = Room.of(settings.engine.memory, current_rank(settings.device).devices, free_rows)
    # a later stage may train on the rows of all splits
    size = data.row_bytes * (2 if settings.training.stages > 1 else 1)
    return broadcast(place(settings.training, size, room))


def with_placement(settings: Settings, placement: Placement) -> Settings:
    """Settings in which ``training.rows`` and ``training.shuffle`` are what was decided."""
    training = {**settings.config["training"], **asdict(placement)}
    return replace(settings, config={**settings.config, "training": training})


def data_module(settings: Settings) -> NodeDataModule:
    """The data module of a model, not yet prepared."""
    model, scratch = settings.baseline, Path(settings.store.root)
    if isinstance(model, LabelPropagation):
        return LabelDataModule(model, settings.dataset, settings.engine, scratch, settings.seed)
    if model:
        assert isinstance(model, Baseline)
        scaling = settings.config["scaling"]["features"]
        return BaselineDataModule(model, settings.dataset, settings.engine, scaling, scratch, settings.seed)
    return SIGNDataModule(settings.precomputation, settings.seed)


def make_task(settings: Settings, data: NodeDataModule) -> NodeTask:
    """The task of a model on prepared data."""
    if isinstance(data, BaselineDataModule):
        return BaselineTask.for_data(data, data.baseline, settings.training, settings.seed)
    assert isinstance(data, SIGNDataModule)
    return SIGNTask.for_data(data, settings.architecture, settings.training, settings.seed)


def create_run_folder(settings: Settings, data: NodeDataModule) -> Path:
    """Create the folder of a run, with its description.

    It is ``settings.run_folder``, the folder of the checkpoint to resume, or a new one.
    """
    with write_errors(settings.output_dir, "paths.output_dir"):
        if settings.run_folder:
            folder = settings.run_folder
            folder.mkdir(parents=True, exist_ok=True)
        elif resumed := run_folder_of(settings.ckpt_path):
            folder = resumed
        else:
            folder = new_run_folder(settings)
        write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(settings.config)))
        if not (folder / RUN).exists():  # a resumed run keeps its description
            write_json(folder / RUN, describe(settings, data))
    return folder


def new_run_folder(settings: Settings) -> Path:
    """Create an empty folder under ``paths.output_dir``, named by data set, model, time and seed."""
    parent = settings.output_dir.resolve() / settings.dataset.name / settings.slug
    return create_unique_folder(parent, f"{time.strftime('%Y%m%d-%H%M%S')}-seed{settings.seed}")


def describe(settings: Settings, data: NodeDataModule) -> dict[str, Any]:
    """The content of ``run.json``: what is run, with which versions, on which hops."""
    return {
        "dataset": settings.dataset.name,
        "model": settings.title,
        "seed": settings.seed,
        "experiment": settings.experiment,
        "job_type": settings.job_type,
        "group": settings.group,
        "content": settings.dataset.content_digest(),
        "class_names": list(data.classification.class_names),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"sign": sign.__version__} | {name: version(name) for name in PACKAGES},
        **data.records(),
    }


def run_info(settings: Settings, folder: Path) -> RunInfo:
    """What a tracker shows of a run: data set, model and seed first."""
    dataset = settings.dataset
    protocol = "inductive" if dataset.inductive else "transductive"
    trial = settings.config.get("trial")
    return RunInfo(
        name=f"{dataset.name} {settings.title} seed {settings.seed}"
        + (f" trial {trial}" if trial is not None else "")
        + (f" {folder.name}" if settings.pseudo_labels else ""),
        group=settings.group,
        job_type=settings.job_type,
        tags=[dataset.name, settings.title, protocol],
        config=settings.config,
        folder=folder,
    )
