"""Save a view of the W&B project with the panels of the report: ``python src/workspace.py logger.project=sign``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.requests import tracker


def main(cfg: DictConfig) -> None:
    """Create the view and print its address."""
    chosen = tracker(cfg)
    from sign.tracking.workspace import save

    print(save(chosen))


if __name__ == "__main__":
    run(main, "workspace")
