"""W&B: offline where it must be, never in the way, and readable."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sign.configuration import Settings
from sign.experiment import train
from sign.loggers import RunCard, WandB

SMALL = ("model.p=1", "training.max_epochs=3", "logger=wandb")


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


def inspect(run: Path) -> dict:
    """What W&B's own reader finds in an offline run."""
    (file,) = run.rglob("run-*.wandb")
    program = Path(sys.executable).parent / "wandb"
    out = subprocess.run(
        [program, "leet", "inspect", "--summary", "--json", file], capture_output=True, text=True, check=True
    )
    return json.loads(out.stdout)


def test_an_offline_run_holds_what_a_dashboard_shows(configured: Callable[..., Settings]) -> None:
    settings = configured(*SMALL)
    numbers = train(settings)
    (folder,) = settings.output_dir.glob("cora/*/*")
    text = json.dumps(inspect(folder))
    assert "val/loss" in text
    assert "test/accuracy" in text
    assert "seconds/epoch" in text
    assert "cora SIGN" in text
    assert str(round(numbers["test/accuracy"], 6)) in text or repr(numbers["test/accuracy"]) in text


@pytest.fixture
def silent_port() -> int:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("answer", ["refused", "silent"])
def test_an_unreachable_service_does_not_hold_the_run(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    silent_port: int,
    answer: str,
    capsys: pytest.CaptureFixture,
) -> None:
    port = silent_port if answer == "silent" else 9
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{port}")
    started = time.monotonic()
    tracker = WandB(timeout=6)
    loggers = tracker.start(RunCard("run", "group", "train", ["tag"], {}, tmp_path))
    assert time.monotonic() - started < 15  # the promise itself, not a measure of speed
    tracker.finish(loggers, {"test/accuracy": 0.5})
    assert "offline, because" in capsys.readouterr().out
    assert list(tmp_path.rglob("run-*.wandb"))
