"""Small trained runs, and what is done with them."""

from pathlib import Path

from omegaconf import OmegaConf

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.config.trained import trained_settings
from sign.experiments.run import run

SMALL = ("model.p=1", "model.inception_units=8", "model.classification_units=8", "training.max_epochs=2")


def train(folder: Path, *overrides: str) -> Path:
    """Train a small network below ``folder``, and return the run folder."""
    folders = [f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")]
    settings = configure(compose("logger=csv", "tuned=null", *SMALL, *folders, *overrides), overrides)
    run(settings)
    (made,) = settings.output_dir.glob("*/*/*/config.yaml")
    return made.parent


def settings_of(run: Path, **sections: dict[str, object]) -> Settings:
    """The settings of a run, with changes by section."""
    return trained_settings(run, OmegaConf.create(sections))


def write_graph(
    folder: Path, nodes: int = 40, seed: int = 0, labelled: bool = True, columns: tuple[str, ...] = ("age", "income")
) -> Path:
    """Write a graph of people with ids, in the layout of ``dataset=custom``; both classes occur."""
    import numpy as np

    rng = np.random.default_rng(seed)
    values = rng.standard_normal((nodes, len(columns)))
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(["id", *columns, *(["label"] if labelled else [])])]
    for node, row in enumerate(values):
        label = [("cat", "dog")[int(row[0] > 0)]] if labelled else []
        lines.append(",".join([f"n{node}", *map(str, row), *label]))
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    pairs = [f"n{a},n{b}" for a, b in rng.integers(0, nodes, (3 * nodes, 2)) if a != b]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(pairs) + "\n")
    return folder
