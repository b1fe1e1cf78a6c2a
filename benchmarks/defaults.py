"""The defaults of ``dataset=custom`` against a search: ``python benchmarks/defaults.py --data-dir data``.

Every graph is written as a folder of ``dataset=custom``, as if nobody had tuned it. Test accuracy (micro-F1 for
multilabel data), mean ± standard deviation of five seeds: the defaults of SIGN, S-GCN and MLP, and the best of
``--trials`` configurations of SIGN, drawn by Optuna's TPE and compared by validation accuracy with one seed each.
Finished runs are kept in ``--folder``, so an interrupted command continues. ``--limit`` bounds the epochs of every run.
"""

import argparse
import gc
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import scipy.sparse

from sign.config.configure import compose, configure, override
from sign.config.defaults import with_defaults
from sign.config.identity import fingerprint
from sign.experiments.run import run
from sign.graph.graph import SPLITS, Graph
from sign.graph.profile import Profile, profile_of
from sign.system.atomic_files import write_json
from sign.system.console import console

SEEDS = range(5)
PLANETOID, AMAZON, COAUTHOR = (f"dataset={name}" for name in ("planetoid", "amazon", "coauthor"))
SOURCES = {  # where a graph comes from, and whether its splits are kept: custom draws 60 / 20 / 20 % otherwise
    "cora": ([PLANETOID, "dataset.graph=cora"], True),
    "citeseer": ([PLANETOID, "dataset.graph=citeseer"], True),
    "pubmed": ([PLANETOID, "dataset.graph=pubmed"], True),
    "photo": ([AMAZON, "dataset.graph=photo"], True),
    "computers": ([AMAZON, "dataset.graph=computers"], True),
    "cs": ([COAUTHOR, "dataset.graph=cs"], True),
    "cora-60": ([PLANETOID, "dataset.graph=cora"], False),
    "citeseer-60": ([PLANETOID, "dataset.graph=citeseer"], False),
    "pubmed-60": ([PLANETOID, "dataset.graph=pubmed"], False),
    "photo-60": ([AMAZON, "dataset.graph=photo"], False),
}
FOLDERS = {"sections": "Debian/Sections", "tags": "Debian/Tags"}  # in the layout of custom already; directed
MODELS = ("sign", "sgcn", "mlp")


def draw(trial: optuna.Trial) -> dict[str, Any]:
    """The search space of SIGN."""
    return {
        "model.p": trial.suggest_categorical("p", [2, 3, 4, 6]),
        "model.inception_layers": trial.suggest_categorical("inception_layers", [0, 1]),
        "model.inception_units": trial.suggest_categorical("inception_units", [64, 128, 256]),
        "model.classification_layers": trial.suggest_categorical("classification_layers", [0, 1]),
        "model.classification_units": 256,
        "model.activation": trial.suggest_categorical("activation", ["relu", "prelu"]),
        "model.dropout": round(trial.suggest_float("dropout", 0, 0.8), 2),
        "model.input_dropout": round(trial.suggest_float("input_dropout", 0, 0.8), 2),
        "model.batch_norm": trial.suggest_categorical("batch_norm", [False, True]),
        "training.learning_rate": round(trial.suggest_float("learning_rate", 1e-3, 3e-2, log=True), 5),
        "training.weight_decay": float(f"{trial.suggest_float('weight_decay', 1e-6, 1e-2, log=True):.2g}"),
        "training.patience": 30,
        "scaling.features": trial.suggest_categorical("features", ["none", "row_sum", "standardize"]),
        "scaling.hops": trial.suggest_categorical("hops", ["none", "l2"]),
    }


@dataclass
class Bench:
    """One graph in the layout of ``dataset=custom``, and the runs on it that are finished."""

    name: str
    options: argparse.Namespace

    def __post_init__(self) -> None:
        self.folder = self.options.folder / self.name
        self.file = self.folder / "runs.json"
        self.finished: dict[str, dict[str, float]] = json.loads(self.file.read_text()) if self.file.is_file() else {}
        self.dataset = self._dataset()
        self.profile: Profile = profile_of(configure(compose(*self.dataset), []).dataset.load())

    def _dataset(self) -> list[str]:
        folders = [f"paths.output_dir={self.folder / 'runs'}", f"paths.store_dir={self.folder / 'store'}"]
        common = ["dataset=custom", f"dataset.name={self.name}", "logger=csv", "trainer=cpu", *folders]
        if self.name in FOLDERS:
            return [*common, f"dataset.path={self.options.data_dir / FOLDERS[self.name]}", "dataset.directed=true"]
        overrides, keep = SOURCES[self.name]
        source = configure(compose(*overrides, f"paths.data_dir={self.options.data_dir}", *folders), []).dataset
        write_custom(source.load(), self.folder / "graph", keep)
        return [*common, f"dataset.path={self.folder / 'graph'}"]

    def measure(self, model: str, settings: dict[str, Any], seed: int) -> dict[str, float]:
        """The metrics of one run."""
        limit = [f"training.max_epochs={self.options.limit}"]
        changes = [override(name, value) for name, value in settings.items()]
        checked = configure(compose(*self.dataset, f"model={model}", f"seed={seed}", *limit, *changes), [])
        checked = replace(checked, config=with_defaults(checked.config, self.profile))
        key = fingerprint(checked.config, checked.dataset.content_digest())
        if key not in self.finished:
            metrics = run(checked)
            gc.collect()  # Lightning's objects refer to each other, and to the rows
            shutil.rmtree(self.folder / "runs", ignore_errors=True)
            score = "micro_f1" if self.profile.multilabel else "accuracy"
            self.finished[key] = {split: metrics[f"{split}/{score}"] for split in SPLITS}
            self.finished[key] |= {"loss": metrics["val/loss"], "epochs": metrics["epochs"]}
            write_json(self.file, self.finished)
        return self.finished[key]

    def search(self) -> tuple[dict[str, Any], float]:
        """The best configuration of SIGN and its validation accuracy; equal ones are told apart by their loss."""
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
        tried: list[tuple[float, float, dict[str, Any]]] = []
        for number in range(self.options.trials):
            trial = study.ask()
            settings = draw(trial)
            metrics = self.measure("sign", settings, seed=0)
            study.tell(trial, metrics["val"])
            tried.append((metrics["val"], -metrics["loss"], settings))
            print(f"{self.name} {number}: {metrics['val']:.4f}, {metrics['epochs']} epochs, {settings}", flush=True)
        val, _, best = max(tried, key=lambda entry: entry[:2])
        return best, val

    def over_seeds(self, model: str, settings: dict[str, Any]) -> str:
        """Mean ± standard deviation of the test accuracy."""
        scores = [self.measure(model, settings, seed)["test"] for seed in SEEDS]
        return f"{np.mean(scores):.4f} ± {np.std(scores):.4f}"


def write_custom(graph: Graph, folder: Path, keep_splits: bool) -> None:
    """Write a graph as files of ``dataset=custom``."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "edges.npy", np.stack([graph.adjacency.row_indices(), graph.adjacency.indices]))
    scipy.sparse.save_npz(folder / "features.npz", scipy.sparse.csr_matrix(graph.features[:]))
    np.save(folder / "labels.npy", graph.labels)
    for split in SPLITS if keep_splits else ():
        np.save(folder / f"{split}.npy", graph.nodes_of(split))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=[*SOURCES, *FOLDERS], choices=[*SOURCES, *FOLDERS])
    parser.add_argument("--trials", type=int, default=20, help="of the search; 0: only the defaults")
    parser.add_argument("--limit", type=int, default=500, help="epochs of a run, at most")
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="files in PyG's layout, and Debian")
    parser.add_argument("--folder", type=Path, default=Path("outputs/defaults"), help="graphs, hops and finished runs")
    options = parser.parse_args()
    console.quiet = True
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    lines = ["| graph | training rows | SIGN | S-GCN | MLP | search | difference |", "| --- " * 7 + "|"]
    for name in options.graphs:
        bench = Bench(name, options)
        cells = [bench.over_seeds(model, {}) for model in MODELS]
        if options.trials:
            best, _ = bench.search()
            cells.append(bench.over_seeds("sign", best))
            cells.append(f"{float(cells[0].split()[0]) - float(cells[3].split()[0]):+.4f}")
        lines.append(f"| {name} | {bench.profile.training_rows:,} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    print("\n".join(["", *lines]))


if __name__ == "__main__":
    main()
