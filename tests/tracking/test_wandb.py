"""W&B: offline where there is no key or service, without blocking the run; contents of an offline run."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import wandb

from sign.config.settings import Settings
from sign.experiments.run import run
from sign.runs import Run
from sign.system.atomic_files import create_unique_folder
from sign.tracking.base import RunInfo
from sign.tracking.run_tables import TrackerTable
from sign.tracking.wandb import WandB

SMALL = ("model.p=1", "training.max_epochs=3", "logger=wandb")


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "wandb"))


def records(run: Path) -> dict[str, list[dict]]:
    """Records of an offline run by type, read with W&B's own reader."""
    (file,) = run.rglob("run-*.wandb")
    program = Path(sys.executable).parent / "wandb"
    out = subprocess.run([program, "leet", "inspect", "--json", file], capture_output=True, text=True, check=True)
    found: dict[str, list[dict]] = {}
    for line in out.stdout.splitlines():
        record = json.loads(line)
        found.setdefault(record["type"], []).append(record.get(record["type"], {}))
    return found


def table(run: Path, name: str) -> dict:
    (file,) = run.rglob(f"media/table/tables/{name}_*.table.json")
    return json.loads(file.read_text())


@pytest.mark.slow
def test_offline_run_has_epochs_summary_tables_and_artifacts(configured: Callable[..., Settings]) -> None:
    settings = configured(*SMALL, "logger.checkpoints=true", "training.batch_size=50")
    settings = replace(
        settings, experiment="flickr_sign_401", job_type="reproduce", group="flickr"
    )  # to have something published
    numbers = run(settings)
    (folder,) = settings.output_dir.glob("cora/*/*")
    found = records(folder)
    opened = found["run"][0]
    assert (opened["job_type"], opened["run_group"]) == ("reproduce", "flickr")
    assert opened["display_name"].startswith("cora SIGN(1,0,0)")
    epochs = [record["item"] for record in found["history"] if "val/loss" in record["item"]]
    assert len(epochs) == numbers["epochs"] == 3
    assert [(row["epoch"], row["_step"]) for row in epochs] == [(0, 3), (1, 6), (2, 9)]  # 140 training nodes
    assert {"epoch", "train/loss", "val/accuracy", "seconds/epoch", "seconds/training"} <= set(epochs[0])
    summary = {}
    for record in found["summary"]:
        summary |= record["update"]
    assert summary["test/accuracy"] == pytest.approx(numbers["test/accuracy"])
    assert summary["hops/products"] == 1
    assert table(folder, "hops")["data"][1][0] == "p1"
    assert len(table(folder, "convergence")["data"]) == 3
    assert len(table(folder, "per_class")["data"]) == len(table(folder, "confusion")["data"]) == 7
    paper = table(folder, "paper")
    row = dict(zip(paper["columns"], paper["data"][0], strict=True))
    assert row["paper"] == 0.514
    assert row["difference"] == pytest.approx(numbers["test/accuracy"] - 0.514)
    kinds = {record["type"]: record["name"] for record in found["artifact"]}
    assert kinds["hops"] == "hops-cora-SIGN-1-0-0-"
    assert kinds["model"] == "checkpoint-cora-SIGN-1-0-0--seed0"


def opened(tracker: WandB, folder: Path) -> Any:
    (logger,) = tracker.start(RunInfo("run", "group", "train", ["tag"], {}, folder))
    return logger


@pytest.mark.slow
def test_a_resumed_run_continues_its_run_of_wandb_at_the_step_of_the_optimiser(tmp_path: Path) -> None:
    tracker, ids = WandB(mode="offline"), []
    for steps in ((30, 60), (60, 90)):  # interrupted after step 60 and resumed from the checkpoint of step 30
        logger = opened(tracker, tmp_path)
        for step in steps:
            logger.log_metrics({"epoch": step // 30, "val/loss": 0.5}, step=step)
        ids.append(logger.experiment.id)
        tracker.finish([logger], Run(tmp_path), [])
    assert ids[0] == ids[1] == (tmp_path / "wandb-id.txt").read_text().strip()
    files = sorted(tmp_path.rglob("run-*.wandb"))
    assert {file.stem for file in files} == {f"run-{ids[0]}"}
    rows = [[record["item"] for record in records(file.parent)["history"]] for file in files]
    assert [[(row["_step"], row["epoch"]) for row in part] for part in rows] == [[(30, 1), (60, 2)], [(60, 2), (90, 3)]]


def test_two_runs_are_two_runs_of_wandb(tmp_path: Path) -> None:
    tracker = WandB(mode="offline")
    loggers = [opened(tracker, create_unique_folder(tmp_path, "run")) for _ in range(2)]
    assert len({logger.experiment.id for logger in loggers}) == 2
    tracker.finish(loggers, Run(tmp_path), [])


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("WANDB_SILENT", "", "WANDB_SILENT=: Input should be a valid boolean"),
        ("WANDB_CONSOLE", "loud", "WANDB_CONSOLE=loud: Input should be"),
        ("WANDB_MODE", "sometimes", "WANDB_MODE=sometimes: choose one of"),
        ("WANDB_RUN_ID", "a/b", "Run ID cannot contain"),
    ],
)
def test_a_variable_that_wandb_rejects_does_not_stop_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture,
    variable: str, value: str, message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, value)
    wandb.teardown()  # it reads its variables once per process
    assert WandB().start(RunInfo("run", "group", "train", ["tag"], {}, tmp_path)) == []
    assert f"W&B: the run continues without it ({message}" in caplog.text.replace("UsageError: ", "")
    assert not (tmp_path / "wandb-id.txt").exists()


def test_tables_that_cannot_be_sent_do_not_stop_a_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WANDB_MODE", "sometimes")
    info = RunInfo("table", "group", "reproduce", ["tag"], {}, tmp_path)
    WandB().log_tables(info, {"products": TrackerTable(["name"], [["p1"]])})
    assert "W&B: products are not sent (WANDB_MODE=sometimes: choose one of" in caplog.text


@pytest.fixture
def silent_port() -> int:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["refused", "silent"])
def test_unreachable_service_falls_back_to_offline_within_the_timeout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, silent_port: int, answer: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    port = silent_port if answer == "silent" else 9
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{port}")
    started = time.monotonic()
    tracker = WandB(timeout=6)
    loggers = tracker.start(RunInfo("run", "group", "train", ["tag"], {}, tmp_path))
    assert time.monotonic() - started < 60  # without the setting, W&B tries for 90 seconds
    tracker.finish(loggers, Run(tmp_path), [])
    assert "offline, because" in caplog.text
    assert list(tmp_path.rglob("run-*.wandb"))
