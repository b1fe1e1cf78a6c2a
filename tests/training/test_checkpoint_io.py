"""A checkpoint is the new one or the one before, whatever happens while it is written."""

import errno
import os
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from common.overrides import SMALL

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import run
from sign.system import atomic_files
from sign.training.checkpoint_io import AtomicCheckpointIO


def save(file: Path, value: float, size: int = 10) -> None:
    AtomicCheckpointIO().save_checkpoint({"weights": torch.full((size,), value)}, str(file))


def saved(file: Path) -> float:
    return float(torch.load(file, weights_only=True)["weights"][0])


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can become larger than ``size`` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_on_a_full_disk_the_checkpoint_before_stays_and_the_message_says_where(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints" / "last.ckpt"
    save(file, 1.0)
    with (
        full_disk(100_000),
        pytest.raises(SignError, match=r"last.ckpt: cannot be written \(.+\); make room, or set paths.output_dir to"),
    ):
        save(file, 2.0, size=100_000)
    assert saved(file) == 1.0
    assert list(file.parent.iterdir()) == [file]


def test_on_a_read_only_disk_the_message_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(SignError, match=r"last.ckpt: cannot be written \(read-only file system\).* paths.output_dir"):
        save(tmp_path / "last.ckpt", 2.0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("moment", ["_sync", "publish"])
def test_a_kill_while_it_is_written_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    file = tmp_path / "last.ckpt"
    save(file, 1.0)
    child = os.fork()
    if child == 0:
        setattr(atomic_files, moment, lambda _: os.kill(os.getpid(), signal.SIGKILL))
        save(file, 2.0)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert saved(file) == 1.0
    save(file, 3.0)
    assert saved(file) == 3.0
    assert list(tmp_path.iterdir()) == [file]  # what the killed process left is gone


def test_a_run_writes_no_checkpoint_to_the_temporary_folder(
    configured: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("written to the temporary folder")

    settings = configured(*SMALL, "training.max_epochs=1")
    for name in ("mkstemp", "NamedTemporaryFile"):
        monkeypatch.setattr(tempfile, name, refuse)
    run(settings)
    files = sorted(file.name for file in settings.output_dir.rglob("checkpoints/*"))
    assert files == ["best.ckpt", "last.ckpt"]


@pytest.mark.parametrize(("size", "name"), [(100, "config.yaml"), (5000, "best.ckpt")])
def test_a_run_on_a_full_disk_names_the_file(configured: Callable[..., Settings], size: int, name: str) -> None:
    settings = configured(*SMALL, "training.max_epochs=1")
    run(settings)  # fills the store
    with full_disk(size), pytest.raises(SignError, match=rf"{name}: cannot be written \(.*set paths.output_dir"):
        run(settings)
    assert not list(settings.output_dir.rglob("*.tmp"))
