"""Accuracy with both methods of personalised PageRank: ``python benchmarks/accuracy.py``.

Every cell is the mean of ``--seeds`` runs (seed = split_seed = 0, 1, ...) with the settings of ``conf/tuned``; a
data set whose files are not in ``--data-dir`` is left out. ``src/reproduce.py table=graphs`` compares models.
"""

import argparse
import itertools
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from sign.config.configure import compose, configure
from sign.datasets.amazon_coauthor import FILES
from sign.experiments.run import run

DATASETS = {
    "cora": ["dataset=cora"],
    "photo": ["dataset=amazon", "dataset.graph=photo"],
    "computers": ["dataset=amazon", "dataset.graph=computers"],
    "cs": ["dataset=coauthor", "dataset.graph=cs"],
}
PPR = {
    "without": ["model.s=0", "model.t=0"],
    "solve": ["model.s=1", "model.t=0", "model.operators.s.method=solve"],
    "push, ε = 1e-3": ["model.s=1", "model.t=0", "model.operators.s.method=push"],
    "push, ε = 1e-4": ["model.s=1", "model.t=0", "model.operators.s.method=push", "model.operators.s.epsilon=1e-4"],
}


def accuracies(overrides: list[str], seeds: int, folder: Path) -> dict[str, np.ndarray]:
    """Validation and test accuracy of each seed."""
    results = []
    for seed in range(seeds):
        own = [f"seed={seed}", f"dataset.split_seed={seed}", "logger=csv"]
        paths = [f"paths.store_dir={folder / 'store'}", f"paths.output_dir={folder / 'outputs'}"]
        results.append(run(configure(compose(*overrides, *own, *paths), [])))
    return {split: np.array([result[f"{split}/accuracy"] for result in results]) for split in ("val", "test")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=["cora", "photo"], choices=list(DATASETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="files in PyG's layout")
    options = parser.parse_args()
    names = [name for name in options.datasets if name == "cora" or (options.data_dir / FILES[name]).is_file()]
    table = Table(title=f"Accuracy, mean ± standard deviation of {options.seeds} seeds: validation | test")
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    cells: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (row, method) in itertools.product(names, PPR.items()):
            overrides = [*DATASETS[name], *method, f"paths.data_dir={options.data_dir}"]
            scores = accuracies(overrides, options.seeds, Path(folder))
            cells[row, name] = " | ".join(f"{v.mean():.3f} ± {v.std(ddof=1):.3f}" for v in scores.values())
            print(f"{name}: {row}: {cells[row, name]}", flush=True)
    for row in PPR:
        table.add_row(row, *(cells[row, name] for name in names))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
