"""Draw the triangle figure of the appendix: ``python src/figure.py datasets=[cora,communities]``."""

from omegaconf import DictConfig

from sign.cli import run
from sign.requests import datasets_named


def main(cfg: DictConfig) -> None:
    """Load the data sets, draw the figure, and say where it is."""
    datasets = datasets_named(cfg)
    from pathlib import Path

    from sign.reproduction.triangle_figure import save_triangle_figure

    graphs = [dataset.load() for dataset in datasets]
    print(save_triangle_figure(graphs, Path(cfg.paths.output_dir) / "figures", bool(cfg.keep_self_loops)))


if __name__ == "__main__":
    run(main, "figure")
