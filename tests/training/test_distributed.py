"""Several ranks train one network: the same metrics as one, one report, and no process left behind."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
import torch
from common.paths import REPOSITORY

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import run
from sign.training.ranks import Rank, launched, launched_rank
from sign.training.rows import RowLoader, Rows, rank_slice
from sign.training.settings import Device

# an odd number of rows in every split, and a last batch that two ranks cannot halve
GRAPH = (
    "dataset=communities",
    "dataset.nodes=903",
    "dataset.edges=3000",
    "dataset.classes=3",
    "model.p=1",
    "model.inception_units=16",
    "model.classification_units=16",
    "training.batch_size=100",
    "training.max_epochs=2",
)
EXACT = ("model.batch_norm=false", "model.dropout=0")  # dropout and batch norm differ between ranks
TWO = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2")
RESUME = f"resume with: python {REPOSITORY / 'src' / 'train.py'} ckpt_path="
LAUNCHERS = {
    "lightning": ((sys.executable,), TWO),
    "torchrun": ((sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"), TWO[:2]),
}


def program(
    folder: Path, *arguments: str, launcher: Sequence[str] = (sys.executable,), env: Mapping[str, str] = os.environ
) -> subprocess.Popen:
    return subprocess.Popen(
        [*launcher, str(REPOSITORY / "src" / "train.py"), "logger=csv", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **env, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )


def first_epoch(run: Path) -> dict[str, float]:
    with (run / "metrics.csv").open() as stream:
        row = next(csv.DictReader(stream))
    return {name: float(value) for name, value in row.items() if name.split("/")[0] in ("train", "val")}


@pytest.mark.slow
def test_two_ranks_learn_what_one_learns(configured: Callable[..., Settings], tmp_path: Path) -> None:
    running = program(tmp_path, *GRAPH, *EXACT, *TWO)
    settings = configured(*GRAPH, *EXACT, "trainer=cpu")
    run(settings)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    assert err == ""
    assert out.count("run folder:") == 1
    (together,) = tmp_path.glob("outputs/communities/*/*")
    (alone,) = settings.output_dir.glob("communities/*/*")
    assert first_epoch(together) == pytest.approx(first_epoch(alone), rel=1e-5)
    assert {file.name for file in together.rglob("*.ckpt")} == {"best.ckpt", "last.ckpt"}

    # one rank, testing the checkpoint of the two, computes the same metrics
    again = configured(f"ckpt_path={together / 'checkpoints' / 'last.ckpt'}", "trainer=cpu")
    metrics, theirs = run(again), json.loads((together / "metrics.json").read_text())
    for split in ("train", "val", "test"):
        assert metrics[f"{split}/accuracy"] == theirs[f"{split}/accuracy"]
        assert metrics[f"{split}/macro_f1"] == theirs[f"{split}/macro_f1"]
        assert metrics[f"{split}/roc_auc"] == pytest.approx(theirs[f"{split}/roc_auc"], rel=1e-6)
        assert metrics[f"{split}/loss"] == pytest.approx(theirs[f"{split}/loss"], rel=1e-6)


def processes_in(folder: Path) -> list[str]:
    """The processes that were started in a folder; torchrun gives each rank a session of its own."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder and (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def rank_of(process: str) -> int | None:
    """The rank of a process of a training command; None for torchrun's agent."""
    folder = Path("/proc") / process
    try:
        command, environment = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
    except OSError:
        return None
    if not any(part.endswith(b"train.py") for part in command) or b"torch.distributed.run" in command:
        return None
    return int(dict(part.split(b"=", 1) for part in environment if b"=" in part).get(b"LOCAL_RANK", 0))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("launcher", "number", "target", "runs"),
    [
        ("lightning", "TERM", 0, 1),
        ("lightning", "TERM", 1, 1),
        ("lightning", "INT", "all", 1),
        ("lightning", "KILL", 0, 2),
        ("lightning", "KILL", 1, 1),
        ("torchrun", "TERM", 0, 1),
        ("torchrun", "KILL", 1, 2),
    ],
)
def test_a_signal_ends_all_ranks_with_one_message_and_the_command_that_resumes(
    tmp_path: Path, request: pytest.FixtureRequest, launcher: str, number: str, target: int | str, runs: int
) -> None:
    endless = ("training.max_epochs=100000", "training.patience=100000", f"runs={runs}")
    running = program(tmp_path, *GRAPH, *LAUNCHERS[launcher][1], *endless, launcher=LAUNCHERS[launcher][0])
    request.addfinalizer(lambda: [os.kill(int(process), signal.SIGKILL) for process in processes_in(tmp_path)])
    started = time.monotonic()
    while not list(tmp_path.rglob("last.ckpt")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < started + 300
        time.sleep(0.2)
    signalled = time.monotonic()
    allowed = max(10, signalled - started)  # ten seconds; on a busy machine, as long as the start took
    if target == "all":
        os.killpg(running.pid, signal.Signals[f"SIG{number}"])  # as a terminal does
    else:
        (process,) = (process for process in processes_in(tmp_path) if rank_of(process) == target)
        os.kill(int(process), signal.Signals[f"SIG{number}"])
    _, err = running.communicate(timeout=allowed)
    while processes_in(tmp_path):
        assert time.monotonic() < signalled + allowed, processes_in(tmp_path)
        time.sleep(0.1)
    assert running.returncode != 0
    if launcher == "lightning" and target != 1 and number != "KILL":
        assert running.returncode == 130
    resume = "run the same command again to resume" if runs > 1 else RESUME
    messages = [line for line in err.splitlines() if line.startswith(("error:", "interrupted"))]
    assert len(messages) == 1, err
    assert resume in messages[0]
    if runs == 1:
        assert Path(messages[0].rsplit("=", 1)[1]).is_file()
    if launcher == "lightning":  # torchrun's agent adds a report of its own
        assert err.strip() == messages[0]


FAILING = """
from pytorch_lightning.loggers import CSVLogger
from sign.tracking.base import NoTracker
class Bad(CSVLogger):
    def log_metrics(self, metrics, step=None):
        raise RuntimeError("only rank 0 fails")
class Failing(NoTracker):
    def start(self, info):
        return [Bad(info.folder)]
"""


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_an_error_of_rank_0_ends_the_others(tmp_path: Path, launcher: str) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    trusting = {"SIGN_TRUST": "failing", "PYTHONPATH": str(tmp_path)}
    start, ddp = LAUNCHERS[launcher]
    target = "logger._target_=failing.Failing"
    failing = program(tmp_path, *GRAPH, *EXACT, *ddp, target, launcher=start, env=trusting)
    _, err = failing.communicate(timeout=300)
    assert failing.returncode == 1
    assert err.count("RuntimeError: only rank 0 fails") == 1
    assert "error: rank" not in err


def trained_series(folder: Path, launcher: str, seeds: int) -> str:
    """What a command prints that trains a series."""
    start, ddp = LAUNCHERS[launcher]
    series = program(folder, *GRAPH, *EXACT, *ddp, f"runs={seeds}", launcher=start)
    out, err = series.communicate(timeout=300)
    assert series.returncode == 0, err
    assert f"{seeds} seeds" in out
    return out


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_train_a_series(tmp_path: Path, launcher: str) -> None:
    out = trained_series(tmp_path, launcher, 2)
    assert [out.count(f"seed {seed}:") for seed in (0, 1)] == [1, 1]
    if launcher == "torchrun":  # what a command finds does not depend on the launcher
        out = trained_series(tmp_path, launcher, 3)
        assert "1 of 3 runs to train, 2 found" in out
        assert [out.count(f"seed {seed}:") for seed in (0, 1, 2)] == [0, 0, 1]


ARXIV = """
from dataclasses import dataclass, replace
from sign.datasets.synthetic.communities import Communities
@dataclass(frozen=True, kw_only=True)
class Arxiv(Communities):
    def classification(self, feature_scaling):
        return replace(super().classification(feature_scaling), evaluator="ogbn-arxiv")
"""


@pytest.mark.slow
def test_ogbs_evaluator_sees_the_predictions_of_all_ranks(
    configured: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arxiv.py").write_text(ARXIV)
    trusting = {"SIGN_TRUST": "arxiv", "PYTHONPATH": str(tmp_path)}
    running = program(tmp_path, *GRAPH, *TWO, "dataset._target_=arxiv.Arxiv", env=trusting)
    _, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    (together,) = tmp_path.glob("outputs/communities/*/*")
    theirs = json.loads((together / "metrics.json").read_text())

    monkeypatch.setenv("SIGN_TRUST", "arxiv")
    monkeypatch.syspath_prepend(tmp_path)
    metrics = run(configured(f"ckpt_path={together / 'checkpoints' / 'last.ckpt'}", "trainer=cpu"))
    for split in ("train", "val", "test"):
        assert metrics[f"{split}/accuracy"] == theirs[f"{split}/accuracy"]


@pytest.mark.slow
def test_a_seed_that_diverges_does_not_stop_the_other_seeds_of_the_ranks(tmp_path: Path) -> None:
    series = program(tmp_path, *GRAPH, *TWO, "runs=2", "training.learning_rate=1e30")
    out, err = series.communicate(timeout=300)
    assert series.returncode == 1
    assert out.count("failed: training diverged") == 2
    assert err.startswith("error: 2 of 2 runs failed")
    assert err.count("error:") == 1


@pytest.mark.slow
def test_an_error_of_all_ranks_is_reported_once(tmp_path: Path) -> None:
    empty = ("dataset.nodes=40", "dataset.edges=70", "dataset.val_fraction=0.489")
    failing = program(tmp_path, *GRAPH, *TWO, *empty)
    _, err = failing.communicate(timeout=300)
    assert failing.returncode == 1
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1, err
    assert "the test split is empty" in err


@pytest.mark.parametrize("world", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [0, 1, 14, 101])
def test_every_row_is_evaluated_by_one_rank(world: int, rows: int) -> None:
    parts = [range(rows)[rank_slice(rows, rank, world)] for rank in range(world)]
    assert [row for part in parts for row in part] == list(range(rows))


@pytest.mark.parametrize("world", [1, 2, 3])
def test_batches_do_not_depend_on_the_world_size(world: int) -> None:
    values = torch.arange(25.0)[:, None]
    order = torch.randperm(25, generator=torch.Generator().manual_seed(0))
    loaders = [RowLoader(Rows(values), torch.arange(25), 8, lambda: order, rank, world) for rank in range(world)]
    for number, batches in enumerate(zip(*loaders, strict=True)):
        labels = torch.cat([batch.labels for batch in batches])
        expected = order[8 * number : 8 * number + 8] if number < 2 else order[16:]  # one left over joins the last
        assert torch.equal(labels, expected)
        assert {batch.total for batch in batches} == {len(expected)}
        assert min(len(batch.rows) for batch in batches) >= 2
        assert torch.equal(torch.cat([batch.rows for batch in batches])[:, 0].long(), labels)


def device(**changes: object) -> Device:
    return Device(**({"accelerator": "cpu", "precision": "32-true", "devices": None, "num_nodes": None} | changes))


TORCHRUN_VARIABLES = {
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "4",
    "TORCHELASTIC_RUN_ID": "x",
}
SLURM_VARIABLES = {
    "SLURM_PROCID": "5",
    "SLURM_NTASKS": "8",
    "SLURM_LOCALID": "1",
    "SLURM_NNODES": "2",
    "SLURM_STEP_ID": "0",
}


@pytest.mark.parametrize("environment", [TORCHRUN_VARIABLES, SLURM_VARIABLES])
def test_a_launcher_gives_each_process_its_rank(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    assert launched(device()) is None
    assert launched_rank() == 0
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    own = launched(device())
    assert own == Rank(rank=5, world_size=8, local_rank=1, nodes=2)
    assert own.devices == 4
    assert launched_rank() == (5 if environment is TORCHRUN_VARIABLES else 0)
    with pytest.raises(SignError, match=r"trainer\.devices=3: this command was launched with 4"):
        launched(device(devices=3))
    with pytest.raises(SignError, match=r"trainer\.num_nodes=4: this command was launched with 2"):
        launched(device(num_nodes=4))


def test_torchrun_without_ddp_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TORCHRUN_VARIABLES.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SignError, match=r"torchrun started 8 processes, but trainer\.devices=1; use trainer=ddp"):
        launched(device(devices=1, num_nodes=1))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("trainer=ddp", "trainer.accelerator=cpu"), "trainer.devices=None: no GPU was found"),
        pytest.param(
            ("trainer=gpu",),
            "trainer.accelerator=gpu: no GPU was found",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU"),
        ),
        ((*TWO, "trainer.num_nodes=2"), "trainer.num_nodes=2: start the command on every machine"),
        (TWO, "trainer.devices > 1: start the run with python src/train.py, which launches the ranks"),
        ((*TWO, "training.batch_size=3"), "training.batch_size=3: batch norm needs two rows on each of 2"),
    ],
)
def test_an_impossible_device_is_refused_before_anything_is_written(
    configured: Callable[..., Settings], overrides: tuple[str, ...], message: str
) -> None:
    settings = configured(*GRAPH, *overrides)
    with pytest.raises(SignError) as caught:
        run(settings)
    assert str(caught.value).startswith(message)
    assert not list(settings.output_dir.rglob("*"))
