"""The tables and figures of the paper, filled on look-alikes, and what a table says where data are missing."""

import json
from pathlib import Path

import pytest
from common.commands import SLOW, command, imports
from hydra import compose, initialize_config_dir

from sign.commands.reproduce import request_of
from sign.config.configure import CONF
from sign.errors import SignError
from sign.experiments.series import Plan
from sign.published import published_tables
from sign.reproduction import reproduce
from sign.reproduction.experiments import GRAPHS, MODELS, cell_plan, words_of
from sign.reproduction.reproduce import Reproduction
from sign.reproduction.request import FIGURES, TABLES, Request
from sign.reproduction.tables import Filled, Outcome
from sign.runs import Series
from sign.system.atomic_files import write_json


def requested(folder: Path, *words: str) -> Request:
    paths = [f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")]
    with initialize_config_dir(str(CONF)):
        return request_of(compose("reproduce", overrides=[*paths, *words]))


def test_smoke_fills_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one seed and one epoch, and without the tables that hold nothing new."""
    chosen = {
        "inductive": ["SIGN"],
        "products": ["SIGN(5,3,0)"],
        "papers100M": ["SIGN(3,3,3)"],
    }
    monkeypatch.setattr(
        reproduce, "published_tables", lambda: {name: only(name, rows) for name, rows in chosen.items()}
    )
    monkeypatch.setattr("sign.reproduction.figures.CONVERGENCE", {"SIGN(5,3,0)": "products_sign_530"})
    monkeypatch.setattr("sign.reproduction.request.TABLES", (*chosen, "reductions"))
    request = requested(tmp_path, "table=smoke", "runs=1", "+settings.training.max_epochs=1")
    Reproduction(request).run()
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
    Reproduction(request).run()  # everything is there
    assert [run.with_name("metrics.json").stat().st_mtime_ns for run in runs] == stamps


def only(name: str, rows: list[str]) -> object:
    """A table with some of its rows."""
    from dataclasses import replace

    table = published_tables()[name]
    return replace(table, rows=tuple(rows), cells=tuple(cell for cell in table.cells if cell.row in rows))


def test_data_that_cannot_be_had_are_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    attempts = []

    def refused(address: str, file: Path) -> None:
        attempts.append(address)
        raise OSError("no network here")

    monkeypatch.setattr("sign.datasets.download.fetch", refused)
    Reproduction(requested(tmp_path, "table=products", "figure=triangles")).run()
    assert (
        len(attempts) <= 4
    )  # once for ogbn-products, once for each data set of the figure that can be fetched
    content = json.loads((tmp_path / "output" / "reproduction" / "products.json").read_text())
    ours = [cell for cell in content["cells"] if cell["experiment"]]
    assert all(cell["ours"] is None and "no network here" in cell["reason"] for cell in ours)
    assert all(cell["published"] for cell in content["cells"] if cell["row"] == "GraphSAINT")
    text = (tmp_path / "output" / "reproduction" / "products.md").read_text()
    assert "| GraphSAINT | (92.71 ± 0.14) |" in text
    assert "| SIGN(5,3,0) | — [1] (96.92 ± 0.46) |" in text
    assert text.count("[1] ") == len({*published_tables()["products"].experiments}) * 3 + 1
    assert "none of its data sets is available" in capsys.readouterr().out


def test_what_fails_for_another_reason_does_not_stand_for_its_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def failing(wanted: Plan) -> Series:
        tried.append(wanted.first.experiment)
        raise SignError("engine.memory=1MB: not enough")

    monkeypatch.setattr("sign.reproduction.reproduce.train_series", failing)
    with pytest.raises(SignError, match=r"8 experiments failed, or have runs that did: products_mlp, "):
        Reproduction(requested(tmp_path, "table=products")).run()
    assert len(tried) == 8


def test_a_table_shows_ours_the_published_number_and_the_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    metrics = {f"{split}/accuracy": {"mean": 0.775, "std": 0.002} for split in ("train", "val", "test")}
    write_json(tmp_path / "series.json", {"seeds": [0, 1], "metrics": metrics})
    filled = Filled(published_tables()["products"])
    filled.outcomes["products_sign_530"] = Outcome(Series(tmp_path))
    (test,) = [cell for cell in filled.table.row("SIGN(5,3,0)") if cell.column == "Test"]
    assert filled.parts(test) == ("77.50 ± 0.20", "77.60 ± 0.13", "-0.10")
    assert "77.50 ± 0.20 (77.60 ± 0.13, -0.10)" in filled.markdown()
    assert "of 2 runs" in filled.markdown()
    filled.show()
    assert "77.50 ± 0.20" in capsys.readouterr().out


def test_a_tracker_gets_the_whole_table() -> None:
    filled = Filled(published_tables()["inductive"])
    shown = filled.tracker_table()
    rows = {(row[0], row[1]): dict(zip(shown.columns, row, strict=True)) for row in shown.rows}
    assert len(rows) == len(filled.table.cells)
    assert rows["GraphSAINT", "PPI"]["published"] == 0.981
    assert rows["SIGN", "Flickr"]["ours"] is None


def test_every_cell_and_its_look_alike_can_be_configured(tmp_path: Path) -> None:
    """The paper's experiments are composed one by one elsewhere; here are the graphs, and a look-alike each."""
    real, smoke = requested(tmp_path, "table=graphs"), requested(tmp_path, "table=smoke")
    for graph in GRAPHS:
        cell_plan(f"{graph}:sign", smoke)
    folders = {cell_plan(f"cora:{model}", real).series.folder for model in MODELS}
    assert len(folders) == len(MODELS)
    one = cell_plan("photo:gcn", real)
    assert (one.first.title, one.settings(7).dataset.split_seed) == ("GCN(L=1)", 7)
    names = {table: published_tables()[table].experiments for table in TABLES if table != "reductions"}
    assert all(words_of(name, True) for experiments in names.values() for name in experiments)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "table=null: say what to reproduce"),
        (("table=nine",), "table=nine: choose one of"),
        (("figure=nine",), "figure=nine: choose one of"),
        (("figure=triangles", "datasets=cora"), "datasets=cora: give a list"),
        (("figure=convergence", "datasets=[cora]"), "datasets=['cora']: only figure=triangles"),
        (("table=all", "runs=0"), "runs=0: must be an integer >= 1"),
        (("table=all", "settings=x"), "settings=x: name what to set"),
        (("table=all", "+nine=9"), "nine: there is no such setting"),
    ],
)
def test_a_wrong_request_is_one_sentence(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(SignError) as caught:
        requested(tmp_path, *words)
    assert str(caught.value).startswith(sentence)


def test_settings_become_words(tmp_path: Path) -> None:
    words = ("+settings.training.max_epochs=3", "+settings.engine.memory=4GB", "+settings.store.verify=true")
    request = requested(tmp_path, "table=all", *words, "+settings.group='a, \\'b\\''")
    first = cell_plan("flickr_sign_401", request).first
    assert (first.training.max_epochs, first.engine.memory, first.store.verify) == (3, "4GB", True)
    assert first.group == "a, 'b'"
    assert (first.runs, first.job_type, first.experiment) == (10, "reproduce", "flickr_sign_401")


def test_what_is_there_already_costs_no_slow_library(tmp_path: Path) -> None:
    words = ["table=evaluation", "runs=1"]
    plan = cell_plan(
        "papers100M_sign_333", requested(tmp_path, *words, f"paths.output_dir={tmp_path}/outputs")
    )
    run = plan.series.run(0).folder
    run.mkdir(parents=True)
    write_json(run / "metrics.json", {"seconds/inference": 3.0})
    result = command(tmp_path, *words, program="reproduce", PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0, result.stderr[-2000:]
    assert "-0.34" in result.stdout
    assert not imports(result.stderr) & set(SLOW)
    told = command(tmp_path, "--help", program="reproduce")
    assert all(name in told.stdout for name in (*TABLES, *FIGURES, "smoke"))
