"""W&B: offline where there is no key or service, without blocking the run; contents of an offline run."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sign.config.settings import Settings
from sign.experiments.run import run
from sign.runs import Run
from sign.tracking.base import RunInfo
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
    settings = configured(*SMALL, "logger.checkpoints=true")
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
    assert {"epoch", "train/loss", "val/accuracy", "seconds/epoch", "seconds/training"} <= set(epochs[0])
    summary = {}
    for record in found["summary"]:
        summary |= record["update"]
    assert summary["test/accuracy"] == pytest.approx(numbers["test/accuracy"])
    assert summary["hops/products"] == 1
    assert table(folder, "hops")["data"][1][0] == "p1"
    assert len(table(folder, "convergence")["data"]) == 3
    paper = table(folder, "paper")
    row = dict(zip(paper["columns"], paper["data"][0], strict=True))
    assert row["paper"] == 0.514
    assert row["difference"] == pytest.approx(numbers["test/micro_f1"] - 0.514)
    kinds = {record["type"]: record["name"] for record in found["artifact"]}
    assert kinds["hops"] == "hops-cora-SIGN-1-0-0-"
    assert kinds["model"] == "checkpoint-cora-SIGN-1-0-0--seed0"


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
    assert time.monotonic() - started < 15  # the promise itself, not a measure of speed
    tracker.finish(loggers, Run(tmp_path), [])
    assert "offline, because" in caplog.text
    assert list(tmp_path.rglob("run-*.wandb"))
