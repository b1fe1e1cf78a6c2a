"""Several processes train one network: the same numbers as one, one voice, and nothing left behind."""

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
from sign.experiments.run import train
from sign.training.datamodule import RowLoader, Rows, Share
from sign.training.ranks import Place, follows, given
from sign.training.settings import Device

# an odd number of rows in every split, and a last batch that two processes cannot halve
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
EXACT = ("model.batch_norm=false", "model.dropout=0")  # what is random, or kept by each process, cannot agree
TWO = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2")


def program(
    folder: Path,
    *arguments: str,
    launcher: Sequence[str] = (sys.executable,),
    env: Mapping[str, str] = os.environ,
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


def test_two_processes_learn_what_one_learns(configured: Callable[..., Settings], tmp_path: Path) -> None:
    running = program(tmp_path, *GRAPH, *EXACT, *TWO)
    settings = configured(*GRAPH, *EXACT, "trainer=cpu")
    train(settings)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    assert err == ""
    assert out.count("run folder:") == 1
    (together,) = tmp_path.glob("outputs/communities/*/*")
    (alone,) = settings.output_dir.glob("communities/*/*")
    assert first_epoch(together) == pytest.approx(first_epoch(alone), rel=1e-5)
    assert {file.name for file in together.rglob("*.ckpt")} == {"best.ckpt", "last.ckpt"}

    # one process, testing the checkpoint of the two, finds the very same numbers
    again = configured(f"ckpt_path={together / 'checkpoints' / 'last.ckpt'}", "trainer=cpu")
    numbers, theirs = train(again), json.loads((together / "metrics.json").read_text())
    for split in ("train", "val", "test"):
        assert numbers[f"{split}/accuracy"] == theirs[f"{split}/accuracy"]
        assert numbers[f"{split}/loss"] == pytest.approx(theirs[f"{split}/loss"], rel=1e-6)


def processes_of(session: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_ctrl_c_leaves_no_process_behind_and_says_how_to_go_on(tmp_path: Path) -> None:
    running = program(tmp_path, *GRAPH, *TWO, "training.max_epochs=100000", "training.patience=100000")
    deadline = time.monotonic() + 300
    while not list(tmp_path.rglob("last.ckpt")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, err = running.communicate(timeout=120)
    assert err.strip() == "interrupted"
    assert running.returncode == 130
    assert "to go on: python src/train.py ckpt_path=" in out
    deadline = time.monotonic() + 30
    while processes_of(running.pid):
        assert time.monotonic() < deadline, processes_of(running.pid)
        time.sleep(0.2)


FAILING = """
from pytorch_lightning.loggers import CSVLogger
from sign.tracking.base import NoTracker
class Bad(CSVLogger):
    def log_metrics(self, metrics, step=None):
        raise RuntimeError("the first process alone fails")
class Failing(NoTracker):
    def start(self, card):
        return [Bad(card.folder)]
"""


def test_torchrun_trains_a_series_and_an_error_of_the_first_process_ends_the_others(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    (tmp_path / "a").mkdir()
    launcher = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone")
    ddp = (*GRAPH, *EXACT, *TWO[:2])
    series = program(tmp_path / "a", *ddp, "runs=2", launcher=launcher)
    trusting = {"SIGN_TRUST": "failing", "PYTHONPATH": str(tmp_path)}
    failing = program(tmp_path, *ddp, "logger._target_=failing.Failing", launcher=launcher, env=trusting)
    out, err = series.communicate(timeout=300)
    assert series.returncode == 0, err
    assert out.count("seed ") == 2
    assert "2 seeds" in out
    _, err = failing.communicate(timeout=300)
    assert failing.returncode == 1
    assert "the first process alone fails" in err


@pytest.mark.parametrize("world", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [0, 1, 14, 101])
def test_every_row_is_evaluated_by_one_process(world: int, rows: int) -> None:
    parts = [range(rows)[Share(rank, world).of(rows)] for rank in range(world)]
    assert [row for part in parts for row in part] == list(range(rows))


@pytest.mark.parametrize("world", [1, 2, 3])
def test_batches_do_not_depend_on_the_number_of_processes(world: int) -> None:
    values = torch.arange(25.0)[:, None]
    order = torch.randperm(25, generator=torch.Generator().manual_seed(0))
    loaders = [
        RowLoader(
            Rows([values.numpy()], [torch.arange(25).numpy()], "none", False),
            torch.arange(25),
            8,
            lambda: order,
            Share(rank, world),
        )
        for rank in range(world)
    ]
    for number, batches in enumerate(zip(*loaders, strict=True)):
        labels = torch.cat([batch.labels for batch in batches])
        expected = (
            order[8 * number : 8 * number + 8] if number < 2 else order[16:]
        )  # one left over joins the last
        assert torch.equal(labels, expected)
        assert {batch.whole for batch in batches} == {len(expected)}
        assert min(len(batch.rows) for batch in batches) >= 2
        assert torch.equal(torch.cat([batch.rows for batch in batches])[:, 0].long(), labels)


def device(**changes: object) -> Device:
    return Device(
        **({"accelerator": "cpu", "precision": "32-true", "devices": None, "num_nodes": None} | changes)
    )


TORCHRUN = {
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "4",
    "TORCHELASTIC_RUN_ID": "x",
}
SLURM = {
    "SLURM_PROCID": "5",
    "SLURM_NTASKS": "8",
    "SLURM_LOCALID": "1",
    "SLURM_NNODES": "2",
    "SLURM_STEP_ID": "0",
}


@pytest.mark.parametrize("environment", [TORCHRUN, SLURM])
def test_a_launcher_tells_each_process_its_place(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    assert given(device()) is None
    assert not follows()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    place = given(device())
    assert place == Place(rank=5, world=8, local_rank=1, machines=2)
    assert place.devices == 4
    assert follows() == (environment is TORCHRUN)
    with pytest.raises(SignError, match=r"trainer\.devices=3: this command was started with 4"):
        given(device(devices=3))
    with pytest.raises(SignError, match=r"trainer\.num_nodes=4: this command was started with 2"):
        given(device(num_nodes=4))


def test_torchrun_without_ddp_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        SignError, match=r"torchrun started 8 processes, but trainer\.devices=1; use trainer=ddp"
    ):
        given(device(devices=1, num_nodes=1))


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (("trainer=ddp", "trainer.accelerator=cpu"), "trainer.devices=None: there is no GPU to count"),
        pytest.param(
            ("trainer=gpu",),
            "trainer.accelerator=gpu: there is no GPU here",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU"),
        ),
        ((*TWO, "trainer.num_nodes=2"), "trainer.num_nodes=2: start the command on every machine"),
        ((*TWO, "training.batch_size=3"), "training.batch_size=3: batch norm needs two rows in each of 2"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    configured: Callable[..., Settings], overrides: tuple[str, ...], sentence: str
) -> None:
    settings = configured(*GRAPH, *overrides)
    with pytest.raises(SignError) as caught:
        train(settings)
    assert str(caught.value).startswith(sentence)
    assert not list(settings.output_dir.rglob("*"))
