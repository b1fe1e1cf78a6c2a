"""Print and plot the statistics of a graph."""

from omegaconf import DictConfig, OmegaConf

from sign.config.instantiate import instantiate_section, writable_folder
from sign.datasets.base import Dataset
from sign.engines.base import Engine


def main(cfg: DictConfig) -> None:
    """Load the data set, print its card, plot it, and print the path of the plot."""
    OmegaConf.resolve(cfg)
    folder = writable_folder("paths.output_dir", cfg.paths.output_dir)
    dataset, engine = instantiate_section(cfg, "dataset", Dataset), instantiate_section(cfg, "engine", Engine)
    from sign.experiments import dataset_card

    with engine.limits(folder):
        card = dataset_card.card_of(dataset.load(), engine)
    dataset_card.show(card)
    print(dataset_card.save(card, folder / "cards"))
