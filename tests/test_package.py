"""The wheel, installed outside of the checkout: a working ``sign`` command with its configuration."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable

import pytest
from common.paths import REPOSITORY
from hatchling.build import build_wheel

from sign import __version__

Sign = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def sign(tmp_path_factory: pytest.TempPathFactory) -> Sign:
    """The ``sign`` command of a new environment that has the wheel, and the dependencies of this one."""
    folder = tmp_path_factory.mktemp("package")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        wheel = folder / build_wheel(str(folder))
    environment = folder / "environment"
    venv.create(environment)
    (packages,) = environment.glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(environment / "bin" / "sign"), *arguments]
        return subprocess.run(command, cwd=folder, env=outside, text=True, capture_output=True)

    return run


@pytest.mark.slow
def test_the_installed_command_lists_its_commands(sign: Sign) -> None:
    listing = sign("--help")
    assert listing.returncode == 0
    for script in (REPOSITORY / "src").glob("*.py"):
        assert f"  sign {script.stem} " in listing.stdout
    assert "python src" not in listing.stdout
    assert sign("--version").stdout == f"{__version__}\n"


@pytest.mark.slow
def test_an_unknown_command_is_one_message(sign: Sign) -> None:
    unknown = sign("tain")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("error: tain: no such command; choose one of describe, ")
    assert unknown.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_installed_command_trains(sign: Sign) -> None:
    trained = sign("train", "dataset=cora", "model.p=1", "training.max_epochs=1", "logger=csv")
    assert trained.returncode == 0, trained.stderr
    assert "SIGN(1,0,0) on cora" in trained.stdout
