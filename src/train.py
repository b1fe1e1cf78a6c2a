"""Train SIGN: ``python src/train.py dataset=cora model.p=4``. Everything is explained by ``--help``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.configuration import configure


def main(cfg: DictConfig) -> float:
    """Train one configuration; the validation loss is what a sweep minimises."""
    settings = configure(cfg)
    from sign.experiment import train  # torch and Lightning take seconds: not before the check

    return train(settings)["val/loss"]


if __name__ == "__main__":
    run(main)
