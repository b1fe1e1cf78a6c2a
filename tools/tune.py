"""Search the settings of every system on every graph of ``table=baselines``, with the same number of trials each.

``python tools/tune.py --data-dir data``; ``--graphs`` and ``--systems`` select. Every search is that of
``src/train.py`` and compares trials on validation data; an interrupted one is resumed. The best settings are written
to ``conf/tuned/baselines/<graph>_<system>.yaml``, which ``python src/reproduce.py table=baselines`` trains with.
"""

import argparse
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from sign.reproduction.experiments import COMPARED, GRAPHS
from sign.system.atomic_files import write_text

ROOT = Path(__file__).parents[1]
ON_HOPS = ("mlp", "sgcn", "sign")  # their settings have other names than those of the baselines
DEBIAN = ("sections", "tags")
DIRECTED = ["model.s=0", "model.t=0", "model.p=choice(1,2)", "model.d=choice(1,2)", "model.f=choice(1,2)"]


def search(graph: str, system: str, options: argparse.Namespace) -> dict[str, Any]:
    """Complete the search of one system on one graph; return its ``study.json``."""
    dataset, choice = GRAPHS[graph]
    folder = options.folder / f"{graph}_{system}"
    trials = options.debian_trials if graph in DEBIAN else options.trials
    command = ["-m", f"hparams_search={'hops' if system in ON_HOPS else 'baselines'}", f"model={system}"]
    command += [
        f"dataset={dataset}",
        *choice,
        f"tuned=custom_{system}",
        f"training.max_epochs={epochs_of(graph, options)}",
    ]
    command += [f"search.metric={metric_of(graph)}", f"training.monitor={metric_of(graph)}"]
    command += [f"search.trials={trials}", f"search.slots={options.slots}", "logger=csv"]
    command += [f"paths.data_dir={options.data_dir}", f"paths.store_dir={options.folder / 'store'}"]
    command += [f"paths.output_dir={folder}", *(DIRECTED if graph in DEBIAN and system == "sign" else ())]
    train(command)
    (file,) = folder.rglob("study.json")
    study: dict[str, Any] = json.loads(file.read_text())
    return study


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
    best, tried = study["best"], [trial for trial in study["trials"] if trial["state"] == "complete"]
    settings = OmegaConf.create({"training": {"monitor": study["metric"], "max_epochs": epochs_of(graph, options)}})
    for name, value in best["params"].items():
        OmegaConf.update(settings, name, float(f"{value:.3g}") if isinstance(value, float) else value)
    lines = [
        "# @package _global_",
        f"# the best of {len(tried)} trials on validation data ({study['metric']} {best['value']:.4f}; tools/tune.py)",
        "defaults:",
        f"  - /tuned/custom_{system}",
        "  - _self_",
    ]
    return "\n".join([*lines, OmegaConf.to_yaml(settings)])


def main() -> None:
    """Run the searches of the command line, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=[*GRAPHS], choices=[*GRAPHS])
    parser.add_argument("--systems", nargs="+", default=[*COMPARED], choices=[*COMPARED])
    parser.add_argument("--trials", type=int, default=10, help="of each search on a small graph")
    parser.add_argument("--epochs", type=int, default=200, help="of each trial on a small graph, at most")
    parser.add_argument("--debian-trials", type=int, default=4, help="of each search on Debian")
    parser.add_argument("--debian-epochs", type=int, default=20, help="of each trial on Debian, at most")
    parser.add_argument("--slots", type=int, default=2, help="trials that run at the same time")
    parser.add_argument("--data-dir", type=Path, default=ROOT / "data")
    parser.add_argument("--folder", type=Path, default=ROOT / "outputs" / "tuning", help="studies and hops")
    options = parser.parse_args()
    for graph in options.graphs:
        for system in options.systems:
            file = ROOT / "conf" / "tuned" / "baselines" / f"{graph}_{system}.yaml"
            study = search(graph, system, options)
            file.parent.mkdir(exist_ok=True)
            write_text(file, settings_of(graph, system, study, options))


if __name__ == "__main__":
    main()
