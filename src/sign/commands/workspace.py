"""Save a view of the W&B project with the panels of the report."""

from omegaconf import DictConfig

from sign.config.instantiate import instantiate_section
from sign.system.console import console
from sign.tracking.wandb import WandB


def main(cfg: DictConfig) -> None:
    """Create the view and print its URL."""
    tracker = instantiate_section(cfg, "logger", WandB)
    from sign.tracking.workspace import save

    console.print(save(tracker), soft_wrap=True)
