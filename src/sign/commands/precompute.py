"""Fill the store with the hops of one configuration, without training."""

from omegaconf import DictConfig

from sign.config.configure import configure
from sign.system.console import console


def main(cfg: DictConfig) -> None:
    """Compute the missing hops and print the folders of all of them."""
    _, hops = configure(cfg).precomputation.run()
    for folder in hops.folders:
        console.print(str(folder), soft_wrap=True)
