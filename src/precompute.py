"""Fill the store and stop: ``python src/precompute.py dataset=cora model.p=4``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.configuration import configure


def main(cfg: DictConfig) -> None:
    """Compute the hops of one configuration and print their folders."""
    settings = configure(cfg)
    from sign.diffusion import precompute

    _, hops = precompute(
        settings.dataset,
        settings.powers,
        settings.engine,
        settings.store,
        settings.scaling.features,
        settings.branches,
    )
    for folder in hops.folders:
        print(folder)


if __name__ == "__main__":
    run(main)
