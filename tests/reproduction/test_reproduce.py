"""Tables and figures of the paper, trained on look-alikes; missing data and failures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from common.paths import REPOSITORY
from common.requests import requested
from omegaconf import DictConfig

from sign.commands.reproduce import reproduce
from sign.config.configure import compose
from sign.errors import MissingData, SignError
from sign.experiments.series import SeriesPlan
from sign.published import PublishedTable, published_tables
from sign.reproduction.experiments import GRAPHS
from sign.runs import Series
from sign.system.atomic_files import write_json


def with_rows(name: str, rows: list[str]) -> PublishedTable:
    """A table with some of its rows."""
    table = published_tables()[name]
    return replace(table, rows=tuple(rows), cells=tuple(cell for cell in table.cells if cell.row in rows))


@pytest.mark.slow
def test_smoke_fills_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed, one epoch, and only the rows whose experiments differ in kind."""
    chosen = {"inductive": ["SIGN"], "products": ["SIGN(5,3,0)"], "papers100M": ["SIGN(3,3,3)"]}
    tables = {name: with_rows(name, rows) for name, rows in chosen.items()}
    monkeypatch.setattr("sign.reproduction.reproduce.published_tables", lambda: tables)
    monkeypatch.setattr("sign.reproduction.figures.CONVERGENCE", {"SIGN(5,3,0)": "products_sign_530"})
    monkeypatch.setattr("sign.reproduction.request.TABLES", (*chosen, "reductions"))
    request = requested(tmp_path, "table=smoke", "runs=1", "+settings.training.max_epochs=1")
    reproduce(request)
    folder = tmp_path / "output" / "reproduction" / "smoke"
    for name in chosen:
        content = json.loads((folder / f"{name}.json").read_text())
        assert content["look_alike"]
        assert all(0 <= cell["ours"]["mean"] <= 100 for cell in content["cells"])
        assert all(cell["difference"] is None for cell in content["cells"])
        assert "not comparable with the paper" in (folder / f"{name}.md").read_text()
    assert all(row["equal"] for row in json.loads((folder / "reductions.json").read_text())["rows"])
    assert (folder / "triangles.png").stat().st_size > 10_000
    assert (folder / "convergence.png").stat().st_size > 10_000
    runs = sorted((tmp_path / "output").glob("*-like/*/series-*/seed0/run.json"))
    assert {json.loads(run.read_text())["job_type"] for run in runs} == {"reproduce"}
    stamps = [run.with_name("metrics.json").stat().st_mtime_ns for run in runs]
    reproduce(request)  # everything is there
    assert [run.with_name("metrics.json").stat().st_mtime_ns for run in runs] == stamps


@pytest.mark.slow
def test_searched_systems_are_trained_and_the_others_are_footnotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small graph in place of Cora, and defaults in place of the files that searches write."""
    settings = {"sagn": ["tuned=custom_sagn"], "sign_labels": ["tuned=custom_sign", "model.l=1"]}
    settings["sign_smoothed"] = ["tuned=custom_sign", "smoothing.correct_alpha=0.9", "smoothing.smooth_alpha=0.9"]
    table = with_rows("beyond", ["SAGN", "SIGN, label hops", "SIGN, Correct and Smooth", "GPR"])
    table = replace(table, columns=("Cora",), cells=tuple(cell for cell in table.cells if cell.column == "Cora"))

    def composed(*overrides: str) -> DictConfig:
        tuned = [value for line in overrides if line.startswith("tuned=") for value in settings[line[18:]]]
        return compose(*(line for line in overrides if not line.startswith("tuned=")), *tuned)

    def tuned_file(table: str, graph: str, system: str) -> Path:
        return REPOSITORY / ("README.md" if table == "beyond" and system in settings else "missing.yaml")

    experiments = "sign.reproduction.experiments"
    monkeypatch.setattr("sign.reproduction.reproduce.published_tables", lambda: {"beyond": table})
    monkeypatch.setitem(GRAPHS, "cora", ("communities", ["dataset.nodes=200", "dataset.edges=600"]))
    monkeypatch.setattr(f"{experiments}.compose", composed)
    monkeypatch.setattr(f"{experiments}.tuned_file", tuned_file)
    reproduce(requested(tmp_path, "table=beyond", "runs=1", "+settings.training.max_epochs=1"))
    content = json.loads((tmp_path / "output" / "reproduction" / "beyond.json").read_text())
    cells = {cell["row"]: cell for cell in content["cells"]}
    for row in ("SAGN", "SIGN, label hops", "SIGN, Correct and Smooth"):
        assert 0 < cells[row]["ours"]["mean"] < 1
    assert cells["GPR"]["ours"] is None
    assert "python tools/tune.py --table beyond --graphs cora --systems gpr" in cells["GPR"]["reason"]


def test_unavailable_data_become_footnotes_and_the_rest_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    attempts = []

    def refused(address: str, file: Path) -> None:
        attempts.append(address)
        raise OSError("no network here")

    monkeypatch.setattr("sign.datasets.download.fetch", refused)
    reproduce(requested(tmp_path, "table=products", "figure=triangles"))
    assert len(attempts) <= 4  # ogbn-products, and each data set of the figure that can be downloaded
    content = json.loads((tmp_path / "output" / "reproduction" / "products.json").read_text())
    assert all(cell["ours"] is None and "no network here" in cell["reason"] for cell in content["cells"])
    assert all(cell["published"] for cell in content["cells"] if cell["row"] == "GraphSAINT")
    text = (tmp_path / "output" / "reproduction" / "products.md").read_text()
    assert "| SIGN(5,3,0) | — [1] (96.92 ± 0.46) |" in text
    assert text.count("[1] ") == len({*published_tables()["products"].experiments}) * 3 + 1
    assert "none of its data sets is available" in caplog.text


def test_failure_of_one_experiment_does_not_exclude_its_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def failing(plan: SeriesPlan) -> Series:
        tried.append(plan.first.experiment)
        raise SignError("engine.memory=1MB: not enough")

    monkeypatch.setattr("sign.reproduction.reproduce.train_series", failing)
    with pytest.raises(SignError, match=r"11 experiments failed or have failed runs: products_mlp, "):
        reproduce(requested(tmp_path, "table=products"))
    assert len(tried) == 11


def test_timing_falls_back_to_generated_graphs_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def trained(plan: SeriesPlan) -> Series:
        if plan.first.dataset.name in ("ogbn-products", "wikipedia"):
            raise MissingData(f"data/{plan.first.dataset.name}: missing")
        planned.append(plan)
        names = ("seconds/epoch", "seconds/precompute", "memory/peak_bytes")
        metrics = {name: {"mean": 0.0123, "std": 0.001} for name in names}
        plan.series.folder.mkdir(parents=True)
        write_json(plan.series.folder / "series.json", {"seeds": [0, 1], "metrics": metrics, "failures": {}})
        return Series(plan.series.folder)

    monkeypatch.setattr("sign.reproduction.reproduce.train_series", trained)
    reproduce(requested(tmp_path, "table=timing", "scale=0.01"))
    assert {plan.first.dataset.name for plan in planned} == {"ogbn-products-like", "wikipedia-like", "debian-sections"}
    baselines = {(plan.first.dataset.name, plan.first.slug): plan.first.baseline for plan in planned}
    assert baselines["ogbn-products-like", "clustergcn"].clusters == 150
    assert baselines["wikipedia-like", "graphsaint-walk"].size == 200
    assert baselines["debian-sections", "clustergcn"].clusters == 389  # its own, not those of the scale
    content = json.loads((tmp_path / "output" / "reproduction" / "timing.json").read_text())
    for cell in content["cells"]:
        assert cell["look_alike"] == (not cell["row"].startswith("Debian"))
        assert cell["difference"] is None
    text = (tmp_path / "output" / "reproduction" / "timing.md").read_text()
    assert "| ogbn-products, ClusterGCN | 0.0123 ± 0.0010 [1] (36.93 ± 0.52) |" in text
    assert "| Debian, SIGN-2 | 0.0123 ± 0.0010 |" in text
    same = "data/ogbn-products: missing; measured on a generated graph of its shape with scale=0.01"
    assert f"[1] {same}, model.clusters=150: not comparable with the published number" in text
    assert f"[3] {same}: not comparable with the published number" in text
