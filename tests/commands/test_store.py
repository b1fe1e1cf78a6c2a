"""The command of the store: its arguments, and the training command that an export prints."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from common.commands import command

from sign.commands.store import training_overrides
from sign.config.identity import identity
from sign.config.settings import Settings


@pytest.mark.parametrize(
    "overrides",
    [
        ("model.p=2", "scaling.features=row_sum", "training.learning_rate=1e-05"),
        ("experiment=cora_public", "trainer.precision=bf16-mixed", "seed=3"),
        ("operator@model.operators.s=heat", "model.s=1"),
        ("+operator@model.operators.q=laplacian", "+model.q=2", "model.title='mine, too'"),
        (),
    ],
)
def test_a_training_run_on_an_export_has_the_same_settings(
    configured: Callable[..., Settings], tmp_path: Path, overrides: tuple[str, ...]
) -> None:
    settings = configured(*overrides)
    elsewhere = configured(*training_overrides(settings, "sign", tmp_path))

    def counted(of: Settings) -> dict:
        return {name: value for name, value in identity(of.config).items() if not name.startswith("dataset.")}

    assert counted(elsewhere) == counted(settings)
    assert elsewhere.powers == settings.powers


@pytest.mark.slow
def test_the_printed_command_trains(tmp_path: Path) -> None:
    small = ("model.p=1", "model.inception_units=8", "training.max_epochs=1")
    exported = command(tmp_path, "action=export", "path=my pack", *small, program="store")
    assert exported.returncode == 0, exported.stderr
    _, program, *overrides = shlex.split(exported.stdout.splitlines()[-1])
    assert program == "src/train.py"
    trained = command(tmp_path, *overrides, "logger=csv")
    assert trained.returncode == 0, trained.stderr


def test_an_export_needs_a_path(tmp_path: Path) -> None:
    result = command(tmp_path, "action=export", program="store")
    assert result.returncode == 1
    assert result.stderr.startswith("error: path=null: action=export needs a new folder to write")
