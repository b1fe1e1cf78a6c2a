"""The checked settings of one run."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from sign.baselines.base import GraphModel
from sign.config.instantiate import build, section_class
from sign.datasets.base import Dataset
from sign.datasets.custom.parquet.dataset import Parquet
from sign.diffusion.precompute import Powers, Precomputation
from sign.engines.base import Engine
from sign.engines.spark.engine import SparkEngine
from sign.errors import SignError
from sign.models.architecture import Architecture
from sign.smoothing.base import NoSmoothing, Smoothing
from sign.store.store import Store
from sign.system.program import command_line
from sign.tracking.base import Tracker
from sign.training.settings import Device, JobType, Scaling, Training, ValidationMetric


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know.

    ``powers`` has the operator and the highest power of each letter of ``model.operators``; a ``baseline`` has none
    of them, and no ``architecture`` beside its own settings. ``config`` is the
    resolved configuration as plain values, which the run folder keeps. ``architecture``, ``training`` and ``scaling``
    are read from it, and raise while it holds an ``auto`` that :func:`sign.config.defaults.resolve` has to replace.
    """

    dataset: Dataset
    model: str
    title: str
    branches: str
    powers: Powers
    engine: Engine
    store: Store
    tracker: Tracker
    device: Device
    seed: int
    output_dir: Path
    ckpt_path: Path | None
    config: dict[str, Any]
    runs: int = 1
    job_type: JobType = "train"
    group: str = ""
    experiment: str | None = None
    run_folder: Path | None = None  # None: a new folder, named by time and seed
    search_metric: ValidationMetric = "val/loss"  # what the command returns to a search or a sweep
    baseline: GraphModel | None = None  # the model, unless it is trained on hops
    smoothing: Smoothing = field(default_factory=NoSmoothing)  # of the predictions, after training
    pseudo_labels: Path | None = None  # file of the predictions that a later stage is trained on

    @cached_property
    def architecture(self) -> Architecture:
        """The head: layers, units and regularisation of the network."""
        model = self.config["model"]
        kind = section_class("model", model["_target_"], Architecture)
        names = {field.name for field in fields(kind)}
        return build("model", kind, {key: value for key, value in model.items() if key in names})

    @cached_property
    def training(self) -> Training:
        """The optimiser, batches and early stopping."""
        return build("training", Training, self.config["training"])

    @cached_property
    def scaling(self) -> Scaling:
        """The scaling of features and hops."""
        return build("scaling", Scaling, self.config["scaling"])

    @property
    def precomputation(self) -> Precomputation:
        """What the hops depend on; the scaling of the features may still be ``auto``."""
        if self.baseline:
            raise SignError(f"model={self.model}: is trained on the graph itself and has no hops; use model=sign")
        if self.stays_on_cluster:
            raise SignError(
                "engine=spark: a graph of dataset=parquet stays on the cluster; write its hops to a folder with "
                f"{command_line('store')} action=export path=…, and train with dataset=pack dataset.path=…"
            )
        scaling = self.config["scaling"]["features"]
        sources = self.dataset, self.powers, self.engine, self.store
        return Precomputation(*sources, scaling, self.branches, self.pseudo_labels)

    @property
    def stays_on_cluster(self) -> bool:
        """Whether executors read the graph, and neither it nor its hops pass through this process."""
        return isinstance(self.engine, SparkEngine) and isinstance(self.dataset, Parquet)

    @property
    def slug(self) -> str:
        """The model as part of a path: sign-p4-t1."""
        used = [f"{letter}{power}" for letter, (_, power) in self.powers.items() if power]
        used += [self.baseline.variant] if self.baseline and self.baseline.variant else []
        return "-".join([self.model.lower(), *used])
