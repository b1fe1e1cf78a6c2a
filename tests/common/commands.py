"""Run the commands as a user types them."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from common.paths import REPOSITORY

SLOW = ("torch", "pytorch_lightning", "numba", "wandb", "scipy", "optuna")


def command(folder: Path, *arguments: str, program: str = "train", **environment: str) -> subprocess.CompletedProcess:
    """Run a program of ``src/`` in ``folder``."""
    return subprocess.run(
        [sys.executable, str(REPOSITORY / "src" / f"{program}.py"), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
        timeout=300,
    )


def run_here(folder: Path, program: str, *arguments: str) -> Any:
    """Run a program of ``src/`` in ``folder``, in this process, which has imported torch; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [program, *arguments])
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            return end.code
    return 0


def imports(stderr: str) -> set[str]:
    """What -X importtime saw."""
    return {line.rsplit("|", 1)[1].strip() for line in stderr.splitlines() if line.startswith("import time:")}


def checkout(folder: Path) -> None:
    """Make a folder look like a checkout."""
    for name in ("src", "conf", "examples"):
        if not (folder / name).exists():
            (folder / name).symlink_to(REPOSITORY / name)


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a command line in ``folder``, which looks like a checkout."""
    checkout(folder)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "WANDB_MODE": "offline", **environment}
    return subprocess.run(line, shell=True, capture_output=True, text=True, cwd=folder, env=env, timeout=600)
