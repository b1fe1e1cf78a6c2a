"""Print and draw what matters about a graph before training: ``python src/describe.py dataset=cora``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.requests import dataset_and_engine


def main(cfg: DictConfig) -> None:
    """Load the data set, print its card, draw it, and say where it is."""
    dataset, engine, folder = dataset_and_engine(cfg)
    from sign.experiments import dataset_card

    with engine.limits(folder):
        made = dataset_card.card_of(dataset.load(), engine)
    dataset_card.show(made)
    print(dataset_card.save(made, folder / "cards"))


if __name__ == "__main__":
    run(main, "describe")
