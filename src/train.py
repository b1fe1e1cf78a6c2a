"""Train SIGN: ``python src/train.py dataset=cora model.p=4``. Everything is explained by ``--help``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.configuration import configure
from sign.series import outcome, plan, show, train_series


def main(cfg: DictConfig) -> float:
    """Train one configuration, or a series of it; the validation loss is what a sweep minimises."""
    if cfg.get("runs", 1) != 1:
        series = train_series(plan(cfg))
        show(series)
        return outcome(series)
    settings = configure(cfg)
    from sign.company import leading  # torch and Lightning take seconds: not before the check
    from sign.experiment import follow, train

    with leading(settings.device, follow) as first:
        return train(settings)["val/loss"] if first else 0.0


if __name__ == "__main__":
    run(main)
