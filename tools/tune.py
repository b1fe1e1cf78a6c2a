"""Search the settings of every system on every graph of a table, with the same number of trials each.

``python tools/tune.py --table beyond --data-dir data``; ``--graphs`` and ``--systems`` select. Every search is that of
``src/train.py`` and compares trials on validation data; an interrupted one is resumed. The best settings are written
to ``conf/tuned/<table>/<graph>_<system>.yaml``, which ``python src/reproduce.py table=<table>`` trains with.
"""

import argparse
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from sign.reproduction.experiments import GRAPHS, SEARCHED, tuned_file
from sign.system.atomic_files import write_text

ROOT = Path(__file__).parents[1]
ON_HOPS = ("mlp", "sgcn", "sign", "sagn", "gamlp", "hoga", "nagphormer", "gpr")  # models without sampling
DEBIAN = ("sections", "tags")
DIRECTED = ["model.s=0", "model.t=0", "model.p=choice(1,2)", "model.d=choice(1,2)", "model.f=choice(1,2)"]
LABEL_HOPS = ["model.l=choice(1,2,3)", "training.label_dropout=choice(0.0,0.5)"]


def search(graph: str, system: str, options: argparse.Namespace) -> dict[str, Any]:
    """Complete the search of one system on one graph; return its ``study.json``."""
    (dataset, choice), (model, changes) = GRAPHS[graph], SEARCHED[options.table][system]
    folder = options.folder / options.table / f"{graph}_{system}"
    trials = options.debian_trials if graph in DEBIAN else options.trials
    command = ["-m", f"hparams_search={'hops' if model in ON_HOPS else 'baselines'}", f"model={model}", *changes]
    command += [
        f"dataset={dataset}",
        *choice,
        f"tuned=custom_{model}",
        f"training.max_epochs={epochs_of(graph, options)}",
    ]
    command += [f"search.metric={metric_of(graph)}", f"training.monitor={metric_of(graph)}"]
    command += [f"search.trials={trials}", f"search.slots={options.slots}", "logger=csv"]
    command += [f"paths.data_dir={options.data_dir}", f"paths.store_dir={options.folder / 'store'}"]
    train([*command, f"paths.output_dir={folder}", *space_of(graph, system, options.table)])
    (file,) = folder.rglob("study.json")
    study: dict[str, Any] = json.loads(file.read_text())
    return study


def space_of(graph: str, system: str, table: str) -> list[str]:
    """What is searched besides the settings of ``hparams_search``: directed operators, and label hops."""
    model, _ = SEARCHED[table][system]
    space = DIRECTED if graph in DEBIAN and (table == "beyond" or model == "sign") else []
    if system == "sign_labels":
        space = [*space, *LABEL_HOPS, *(["model.labels.by=choice(nodes,groups)"] if graph in DEBIAN else [])]
    return space


def train(arguments: list[str]) -> None:
    """Run ``src/train.py`` in this process, so that all searches share the libraries that the first one imported."""
    before, program = sys.argv, str(ROOT / "src" / "train.py")
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        sys.argv = before


def metric_of(graph: str) -> str:
    """The validation metric that trials are compared by."""
    return "val/micro_f1" if graph == "tags" else "val/accuracy"


def epochs_of(graph: str, options: argparse.Namespace) -> int:
    """The most epochs of a run; early stopping ends most runs before."""
    return int(options.debian_epochs if graph in DEBIAN else options.epochs)


def settings_of(graph: str, system: str, study: dict[str, Any], options: argparse.Namespace) -> str:
    """The text of the file with the best settings of a search."""
    model, _ = SEARCHED[options.table][system]
    best, tried = study["best"], [trial for trial in study["trials"] if trial["state"] == "complete"]
    settings = OmegaConf.create({"training": {"monitor": study["metric"], "max_epochs": epochs_of(graph, options)}})
    for name, value in best["params"].items():
        OmegaConf.update(settings, name, float(f"{value:.3g}") if isinstance(value, float) else value)
    lines = [
        "# @package _global_",
        f"# the best of {len(tried)} trials on validation data ({study['metric']} {best['value']:.4f}; tools/tune.py)",
        "defaults:",
        f"  - /tuned/custom_{model}",
        "  - _self_",
    ]
    return "\n".join([*lines, OmegaConf.to_yaml(settings)])


def main() -> None:
    """Run the searches of the command line, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="baselines", choices=[*SEARCHED])
    parser.add_argument("--graphs", nargs="+", default=[*GRAPHS], choices=[*GRAPHS])
    parser.add_argument("--systems", nargs="+", metavar="SYSTEM", help="of the table; by default all")
    parser.add_argument("--trials", type=int, default=10, help="of each search on a small graph")
    parser.add_argument("--epochs", type=int, default=200, help="of each trial on a small graph, at most")
    parser.add_argument("--debian-trials", type=int, default=4, help="of each search on Debian")
    parser.add_argument("--debian-epochs", type=int, default=20, help="of each trial on Debian, at most")
    parser.add_argument("--slots", type=int, default=2, help="trials that run at the same time")
    parser.add_argument("--data-dir", type=Path, default=ROOT / "data")
    parser.add_argument("--folder", type=Path, default=ROOT / "outputs" / "tuning", help="studies and hops")
    options = parser.parse_args()
    known = [*SEARCHED[options.table]]
    if unknown := set(options.systems or ()).difference(known):
        parser.error(f"--systems: {', '.join(sorted(unknown))}: {options.table} has {', '.join(known)}")
    for graph in options.graphs:
        for system in options.systems or known:
            file = tuned_file(options.table, graph, system)
            study = search(graph, system, options)
            file.parent.mkdir(exist_ok=True)
            write_text(file, settings_of(graph, system, study, options))


if __name__ == "__main__":
    main()
