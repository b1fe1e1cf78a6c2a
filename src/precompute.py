"""Fill the store and stop: ``python src/precompute.py dataset=cora model.p=4``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.config.configure import configure


def main(cfg: DictConfig) -> None:
    """Compute the hops of one configuration and print their folders."""
    _, hops = configure(cfg).precomputation.run()
    for folder in hops.folders:
        print(folder)


if __name__ == "__main__":
    run(main)
