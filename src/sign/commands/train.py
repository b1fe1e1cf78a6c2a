"""Train one configuration, or a series of it over several seeds."""

from contextlib import AbstractContextManager, nullcontext

from omegaconf import DictConfig

from sign.config.configure import configure
from sign.experiments.series import outcome, plan, show, train_series
from sign.training.ranks import given
from sign.training.settings import Device


def main(cfg: DictConfig) -> float:
    """Train one configuration, or a series of it; return the validation loss, which a sweep minimises."""
    if cfg.get("runs", 1) != 1:
        wanted = plan(cfg)
        with leading(wanted.first.device) as first:
            if not first:
                return 0.0
            series = train_series(wanted)
            show(series)
            return outcome(series)
    settings = configure(cfg)
    from sign.experiments.run import train  # torch and Lightning take seconds: not before the check

    with leading(settings.device) as first:
        return train(settings)["val/loss"] if first else 0.0


def leading(device: Device) -> AbstractContextManager[bool]:
    """Whether this process is rank 0, which it is unless torchrun or SLURM started several."""
    if given(device) is None:
        return nullcontext(True)
    from sign.training import distributed
    from sign.training.fit import follow

    return distributed.leading(device, follow)
