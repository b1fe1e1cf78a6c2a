"""The checked settings of one run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.datasets.base import Dataset
from sign.diffusion.precompute import Powers, Precomputation
from sign.engines.base import Engine
from sign.models.architecture import Architecture
from sign.store.store import Store
from sign.tracking.base import Tracker
from sign.training.settings import Device, JobType, Scaling, Training, ValidationMetric


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know.

    ``powers`` has the operator and the highest power of each letter of ``model.operators``; ``config`` is the
    resolved configuration as plain values, which the run folder keeps.
    """

    dataset: Dataset
    model: str
    title: str
    branches: str
    powers: Powers
    architecture: Architecture
    training: Training
    scaling: Scaling
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

    @property
    def precomputation(self) -> Precomputation:
        """What the hops depend on."""
        return Precomputation(self.dataset, self.powers, self.engine, self.store, self.scaling.features, self.branches)

    @property
    def slug(self) -> str:
        """The model as part of a path: sign-p4-t1."""
        used = [f"{letter}{power}" for letter, (_, power) in self.powers.items() if power]
        return "-".join([self.model.lower(), *used])
