"""Runs over seeds: the same hops, one summary, and nothing lost when it is interrupted."""

import errno
import logging
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from common.overrides import CUSTOM, SMALL
from common.paths import REPOSITORY

from sign.commands.train import print_series
from sign.config.configure import compose
from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments import run
from sign.experiments.series import SeriesPlan, mean_metric, plan, train_series
from sign.runs import Run, Series
from sign.training.datamodule import SIGNDataModule


@pytest.fixture(autouse=True)
def _log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sign")


def overrides_in(folder: Path, *overrides: str) -> list[str]:
    return ["logger=csv", *(f"paths.{kind}_dir={folder / kind}" for kind in ("store", "output")), *SMALL, *overrides]


def planned(folder: Path, *overrides: str) -> SeriesPlan:
    return plan(compose(*overrides_in(folder, *overrides)))


def learned(series: Series) -> dict[str, dict]:
    """The metrics that are not timings."""
    return {
        name: value
        for name, value in series.metrics.items()
        if name.split("/")[0] in ("train", "val", "test", "epochs", "parameters")
    }


@pytest.mark.slow
def test_a_series_on_a_changed_graph_is_trained_again(tmp_path: Path) -> None:
    graph = tmp_path / "graph"
    graph.mkdir()
    ring = np.arange(40)
    edges = np.stack([ring, np.roll(ring, 1)])
    np.save(graph / "edges.npy", edges)
    np.save(graph / "features.npy", np.eye(40, dtype=np.float32))
    np.save(graph / "labels.npy", ring % 2)
    overrides = [*(f"paths.{kind}_dir={tmp_path / kind}" for kind in ("store", "output")), "logger=csv", "runs=2"]
    overrides += ["dataset=custom", f"dataset.path={graph}", "model.p=1", "training.max_epochs=2"]
    first = train_series(plan(compose(*overrides)))
    assert not plan(compose(*overrides)).missing_seeds()
    edges[1, 0] = 7
    np.save(graph / "edges.npy", edges)
    again = plan(compose(*overrides))
    assert again.missing_seeds() == [0, 1]
    second = train_series(again)
    assert second.folder != first.folder
    assert second.metrics["val/loss"] != first.metrics["val/loss"]


def test_defaults_are_chosen_once_for_all_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    overrides = [*overrides_in(tmp_path)[:3], *CUSTOM, "training.max_epochs=1", "runs=2"]
    series = train_series(plan(compose(*overrides)))
    assert len([text for text in caplog.messages if text.startswith("defaults for 24 training rows")]) == 1
    first, second = (run.config for run in series.runs)
    assert first["scaling"]["features"] == "standardize"
    assert {**first, "seed": 1} == second
    assert not plan(compose(*overrides)).missing_seeds()


def test_more_seeds_are_shuffled_as_the_first_ones_were(tmp_path: Path) -> None:
    series = planned(tmp_path, "training.max_epochs=1", "training.rows=disk", "runs=1")
    train_series(series)
    more = planned(tmp_path, "training.max_epochs=1", "runs=2")  # rows would fit into memory now
    assert more.series.folder == series.series.folder
    assert [more.settings(seed).training.shuffle for seed in more.seeds] == ["chunks", "chunks"]


@pytest.mark.slow
def test_seeds_share_hops_and_more_runs_add_seeds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    series = train_series(planned(tmp_path, "runs=2", "training.max_epochs=2"))
    assert series.seeds == [0, 1]
    assert [run.description["products"] for run in series.runs] == [2, 0]
    assert series.metrics["test/accuracy"]["values"] == [run.metrics["test/accuracy"] for run in series.runs]
    before = learned(series)["val/loss"]["values"]
    stamps = [(run.folder / "metrics.json").stat().st_mtime_ns for run in series.runs]
    more = train_series(planned(tmp_path, "runs=3", "training.max_epochs=2"))
    assert more.folder == series.folder
    assert "1 of 3 runs to train, 2 found" in caplog.text
    assert more.seeds == [0, 1, 2]
    assert learned(more)["val/loss"]["values"][:2] == before
    assert [(run.folder / "metrics.json").stat().st_mtime_ns for run in more.runs[:2]] == stamps
    print_series(more)
    assert "population" in capsys.readouterr().out
    assert mean_metric(more, "val/loss") == more.metrics["val/loss"]["mean"]


@pytest.mark.slow
def test_a_run_of_a_series_is_the_run_that_its_seed_makes_alone(tmp_path: Path) -> None:
    pair = train_series(planned(tmp_path, "runs=2", "training.max_epochs=3"))
    alone = train_series(planned(tmp_path / "alone", "runs=1", "seed=1", "training.max_epochs=3"))
    assert pair.metrics["test/loss"]["values"][1] == alone.metrics["test/loss"]["values"][0]


KILLING = """
import os, signal
from pytorch_lightning.loggers import CSVLogger
from sign.tracking.base import NoTracker
class Deadly(CSVLogger):
    def log_metrics(self, metrics, step=None):
        if metrics.get("epoch", 0) >= 3:
            os.kill(os.getpid(), signal.SIGKILL)
class Killing(NoTracker):
    def start(self, info):
        return [Deadly(info.folder)] if info.config["seed"] == 1 else []
"""


@pytest.mark.slow
def test_a_series_that_is_killed_and_started_again_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    overrides = ("runs=3", "training.max_epochs=8", "training.patience=3")
    whole = train_series(planned(tmp_path / "whole", *overrides))
    wanted = planned(tmp_path / "killed", *overrides)
    middle = wanted.series.run(1).folder
    (tmp_path / "killing.py").write_text(KILLING)
    command = [sys.executable, str(REPOSITORY / "src" / "train.py"), *overrides_in(tmp_path / "killed", *overrides)]
    environment = {**os.environ, "SIGN_TRUST": "killing", "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    killed = subprocess.run([*command, "logger._target_=killing.Killing"], env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(Run(middle).epochs()) >= 2
    assert wanted.missing_seeds() == [1, 2]
    assert Run(middle).last_checkpoint
    assert Series(wanted.series.folder).seeds == [0]
    again = train_series(wanted)
    assert again.seeds == [0, 1, 2]
    assert learned(again) == learned(whole)
    epochs = [[row["val/loss"] for row in run.epochs()] for run in (*again.runs, *whole.runs)]
    assert epochs[:3] == epochs[3:]


@pytest.mark.slow
def test_a_failed_run_is_reported_and_does_not_stop_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = planned(tmp_path, "runs=3", "training.max_epochs=2")
    (wanted.series.run(1).folder / "config.yaml").mkdir(parents=True)
    series = train_series(wanted)
    assert series.seeds == [0, 2]
    assert f"seed 1: failed: {wanted.series.run(1).folder / 'config.yaml'}: cannot be written" in caplog.text
    with pytest.raises(SignError, match="1 of 3 runs failed"):
        mean_metric(series, "val/loss")
    (wanted.series.run(1).folder / "config.yaml").rmdir()
    assert train_series(wanted).seeds == [0, 1, 2]


def test_a_full_disk_ends_a_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise SignError("cannot be written") from OSError(errno.ENOSPC, "no space left on device")

    wanted = planned(tmp_path, "runs=2", "training.max_epochs=1")
    with monkeypatch.context() as patched:
        patched.setattr(run, "fit_and_test", full)
        with pytest.raises(SignError, match="cannot be written"):
            train_series(wanted)
    assert train_series(wanted).seeds == [0, 1]


def test_a_checkpoint_that_cannot_be_read_is_not_resumed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wanted = planned(tmp_path, "runs=1", "training.max_epochs=2")
    folder = wanted.series.run(0).folder / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "last.ckpt").write_bytes(b"half")
    assert train_series(wanted).metrics["epochs"]["values"] == [2]
    assert "seed 0: starting from scratch" in caplog.text


def test_a_series_without_a_finished_run_reports_why(tmp_path: Path) -> None:
    series = train_series(planned(tmp_path, "runs=2", "training.learning_rate=1e30"))
    assert series.metrics == {}
    with pytest.raises(SignError, match=r"2 of 2 runs failed .*training diverged"):
        mean_metric(series, "val/loss")


def test_a_series_is_named_by_what_changes_its_numbers(tmp_path: Path) -> None:
    same = (
        "seed=5",
        "runs=7",
        "engine.threads=1",
        "store.verify=true",
        "trainer.accelerator=cpu",
        "job_type=reproduce",
    )
    others = ("model.dropout=0.1", "training.max_epochs=3", "dataset.seed=1", "dataset.seed=${seed}")
    others += ("store.dtype=float16", "trainer.precision=bf16-mixed")
    plain = planned(tmp_path).series.folder
    assert planned(tmp_path, *same, "group=mine").series.folder == plain
    assert len({plain, *(planned(tmp_path, override).series.folder for override in others)}) == 1 + len(others)


def test_what_refers_to_the_seed_is_resolved_for_each_run(tmp_path: Path) -> None:
    wanted = planned(tmp_path, "dataset.seed=${seed}", "seed=2", "runs=2")
    assert [wanted.settings(seed).dataset.seed for seed in wanted.seeds] == [2, 3]


@pytest.mark.parametrize("override", ["runs=0", "runs=two", "seed=4294967295", "ckpt_path=x.ckpt"])
def test_an_invalid_series_is_refused(tmp_path: Path, override: str) -> None:
    with pytest.raises(SignError, match=override.split("=")[0]):
        planned(tmp_path, "runs=2", override)


@pytest.mark.slow
def test_the_rows_of_a_run_are_gone_before_those_of_the_next_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[weakref.ref[SIGNDataModule]] = []
    prepare = run.prepare

    def remembered(settings: Settings) -> SIGNDataModule:
        assert [module() for module in prepared] == [None] * len(prepared)
        datamodule = prepare(settings)
        prepared.append(weakref.ref(datamodule))
        return datamodule

    monkeypatch.setattr(run, "prepare", remembered)
    train_series(planned(tmp_path, "dataset.seed=${seed}", "training.max_epochs=1", "runs=3"))
    assert len(prepared) == 3
