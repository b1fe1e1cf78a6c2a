"""The convergence figure: its lines, and the data set that replaces an unavailable one."""

import json
from pathlib import Path

from common.requests import requested

from sign.reproduction.figures import CONVERGENCE, DEBIAN, convergence, convergence_figure
from sign.reproduction.paper_tables import ExperimentResult
from sign.runs import Series
from sign.system.atomic_files import write_json
from sign.system.program import CONF


def trained(folder: Path) -> ExperimentResult:
    """A series of one run with two epochs."""
    (folder / "seed0").mkdir(parents=True)
    (folder / "seed0" / "metrics.csv").write_text("epoch,seconds/epoch,val/accuracy\n0,2.0,0.5\n1,1.0,0.6\n")
    metrics = {"seconds/precompute": {"mean": 4.0, "std": 0.0}}
    write_json(folder / "series.json", {"seeds": [0], "metrics": metrics, "failures": {}})
    return ExperimentResult(Series(folder))


def test_both_systems_and_several_configurations_of_sign_are_drawn_from_the_start_of_training(tmp_path: Path) -> None:
    file = convergence(requested(tmp_path, "figure=convergence"), lambda name: trained(tmp_path / name))
    assert file
    content = json.loads(file.with_suffix(".json").read_text())
    assert list(content["curves"]) == list(CONVERGENCE)
    assert {"ClusterGCN", "GraphSAINT", "SIGN(5,3,0)"} <= CONVERGENCE.keys()
    assert content["dataset"] == "ogbn-products"
    assert content["curves"]["ClusterGCN"] == [[2.0, 0.5], [3.0, 0.6]]  # preprocessing is no part of it
    assert content["preprocessing"]["ClusterGCN"] == 4.0


def test_debian_replaces_unavailable_products(tmp_path: Path) -> None:
    changed = {}

    def train(name: str, *changes: str) -> ExperimentResult:
        changed[name] = changes
        if name.startswith("products"):
            return ExperimentResult(None, "missing", unavailable=True)
        return trained(tmp_path / name)

    file = convergence(requested(tmp_path, "figure=convergence"), train)
    assert file
    content = json.loads(file.with_suffix(".json").read_text())
    assert (content["dataset"], content["look_alike"]) == ("Debian (sections)", False)
    assert list(content["curves"]) == ["ClusterGCN", "GraphSAINT", "SIGN-2", "SIGN-4", "SIGN-6", "SIGN-8"]
    assert changed["debian_timing_8"] == ("training.max_epochs=20", "runs=1")
    assert all((CONF / "experiment" / f"{name}.yaml").is_file() for name in DEBIAN.values())


def test_nothing_is_drawn_if_every_line_failed(tmp_path: Path) -> None:
    def failed(name: str) -> ExperimentResult:
        return ExperimentResult(None, "diverged")

    assert convergence(requested(tmp_path, "figure=convergence"), failed) is None


def test_the_figure_names_its_data_set_and_what_its_seconds_contain() -> None:
    (axes,) = convergence_figure({"SIGN-2": [(1.0, 0.5), (2.0, 0.6)]}, {"SIGN-2": 0.25}, "Debian").axes
    assert axes.get_title() == "Convergence on Debian"
    assert axes.get_xlabel() == "seconds of training, without preprocessing and evaluation"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["SIGN-2 (preprocessing 0.25 s)"]
