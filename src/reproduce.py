"""Reproduce the paper: ``python src/reproduce.py table=inductive``; ``--help`` shows the other tables and figures."""

from omegaconf import DictConfig

from sign.cli import run
from sign.reproduction.reproduce import Reproduction
from sign.reproduction.request import request_of


def main(cfg: DictConfig) -> None:
    """Train what is missing, and show ours beside the published numbers."""
    Reproduction(request_of(cfg)).run()


if __name__ == "__main__":
    run(main, "reproduce")
