"""Run folders as they are read back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from common.overrides import SMALL

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import run
from sign.runs import Run, find_runs, find_series, over_seeds
from sign.system.atomic_files import write_json


def test_a_run_says_what_it_is(configured: Callable[..., Settings]) -> None:
    settings = configured(
        *SMALL, "training.max_epochs=2", "job_type=search", "group=ours", "dataset.inductive=true"
    )
    numbers = run(settings)
    (found,) = find_runs([settings.output_dir])
    assert found.metrics == numbers
    assert found.config["training"]["max_epochs"] == 2
    assert [row["epoch"] for row in found.epochs()] == [0, 1]
    assert {row["val/loss"] > 0 for row in found.epochs()} == {True}
    told = found.description
    assert (told["dataset"], told["model"], told["seed"]) == ("communities", "SIGN(2,0,0)", 0)
    assert (told["job_type"], told["group"], told["experiment"]) == ("search", "ours", None)
    assert [(hop["name"], hop["scope"], hop["found"]) for hop in told["hops"]] == [
        (name, scope, False) for scope in ("train", "full") for name in ("X", "p1", "p2")
    ]
    assert told["hops"][0]["operator"] is None
    assert told["hops"][1]["operator"].startswith("NormalizedAdjacency(normalization=gcn")
    assert (told["hops"][1]["rows"], told["hops"][1]["columns"]) == (1000, 50)
    assert told["products"] == 4
    run(configured(*SMALL, "training.max_epochs=1"))
    run(configured(*SMALL, "training.max_epochs=1"))
    assert all(hop["found"] for hop in find_runs([settings.output_dir])[-1].description["hops"])


def test_runs_are_found_in_the_order_of_their_seeds_and_of_their_beginning(tmp_path: Path) -> None:
    names = [
        "20260101-000000-seed9",
        "20260101-000000-seed9-1",
        "20260101-000000-seed10",
        "20260101-000001-seed0",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    assert [run.folder.name for run in find_runs([tmp_path])] == names


def test_an_unfinished_run_has_no_metrics_and_a_row_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("epoch,val/loss\n0,0.5\n1,")
    assert Run(tmp_path).metrics is None
    assert Run(tmp_path).last_checkpoint is None
    assert Run(tmp_path).epochs() == [{"epoch": 0.0, "val/loss": 0.5}]


def test_what_is_not_a_run_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("[")
    with pytest.raises(SignError, match="cannot be read"):
        find_runs([tmp_path])[0].description  # noqa: B018
    assert find_series([tmp_path]) == []


def test_deviation_is_that_of_the_population() -> None:
    found = over_seeds([{"a": 1.0, "b": 2.0}, {"a": 3.0}])
    assert found == {"a": {"mean": 2.0, "std": 1.0, "values": [1.0, 3.0]}}
    assert over_seeds([]) == {}


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}


def test_runs_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for seed in (10, 9, 1):
        folder = tmp_path / f"seed{seed}"
        folder.mkdir()
        write_json(folder / "run.json", {"seed": seed})
    assert [run.description["seed"] for run in find_runs([tmp_path])] == [1, 9, 10]
