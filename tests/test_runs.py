"""Run folders and series read back from disk."""

from collections.abc import Callable
from pathlib import Path

import pytest
from common.overrides import SMALL

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import run
from sign.runs import Run, find_runs, find_series, over_seeds


@pytest.mark.slow
def test_trained_run_has_description_config_metrics_and_epochs(configured: Callable[..., Settings]) -> None:
    settings = configured(*SMALL, "training.max_epochs=2", "job_type=search", "group=ours", "dataset.inductive=true")
    numbers = run(settings)
    (found,) = find_runs([settings.output_dir])
    assert found.metrics == numbers
    assert found.config["training"]["max_epochs"] == 2
    assert [row["epoch"] for row in found.epochs()] == [0, 1]
    assert {row["val/loss"] > 0 for row in found.epochs()} == {True}
    description = found.description
    assert (description["dataset"], description["model"], description["seed"]) == ("communities", "SIGN(2,0,0)", 0)
    assert (description["job_type"], description["group"], description["experiment"]) == ("search", "ours", None)
    assert [(hop["name"], hop["scope"], hop["found"]) for hop in description["hops"]] == [
        (name, scope, False) for scope in ("train", "full") for name in ("X", "p1", "p2")
    ]
    assert description["hops"][0]["operator"] is None
    assert description["hops"][1]["operator"].startswith("adjacency(normalization=gcn")
    assert (description["hops"][1]["rows"], description["hops"][1]["columns"]) == (1000, 50)
    assert description["products"] == 4
    run(configured(*SMALL, "training.max_epochs=1"))
    run(configured(*SMALL, "training.max_epochs=1"))
    assert all(hop["found"] for hop in find_runs([settings.output_dir])[-1].description["hops"])


def test_runs_are_found_in_natural_order(tmp_path: Path) -> None:
    names = ["20260101-000000-seed9", "20260101-000000-seed9-1", "20260101-000000-seed10", "20260101-000001-seed0"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    assert [run.folder.name for run in find_runs([tmp_path])] == names


def test_unfinished_run_has_no_metrics_and_an_incomplete_row_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("epoch,val/loss\n0,0.5\n1,")
    assert Run(tmp_path).metrics is None
    assert Run(tmp_path).last_checkpoint is None
    assert Run(tmp_path).epochs() == [{"epoch": 0.0, "val/loss": 0.5}]


def test_unreadable_description_raises(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("[")
    with pytest.raises(SignError, match="cannot be read"):
        find_runs([tmp_path])[0].description  # noqa: B018
    assert find_series([tmp_path]) == []


def test_std_is_that_of_the_population() -> None:
    found = over_seeds([{"a": 1.0, "b": 2.0}, {"a": 3.0}])
    assert found == {"a": {"mean": 2.0, "std": 1.0, "values": [1.0, 3.0]}}
    assert over_seeds([]) == {}
