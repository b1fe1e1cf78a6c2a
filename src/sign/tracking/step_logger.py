"""Lightning's logger of W&B, with the optimiser's step as the step of W&B."""

from collections.abc import Mapping
from typing import Any

from pytorch_lightning.loggers import WandbLogger


class StepLogger(WandbLogger):
    """Log to an open run of W&B.

    Lightning's own logger writes the step as a metric and lets W&B count calls, which a resumed run would begin anew.
    """

    def __init__(self, wandb_run: Any) -> None:
        super().__init__(experiment=wandb_run)

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Log metrics at a step; W&B ignores a step that it has already."""
        self.experiment.log(dict(metrics), step=step)
