"""The wheel, installed outside of the checkout: a working ``sign`` command with its configuration."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from common.paths import REPOSITORY
from hatchling.build import build_wheel

from sign import __version__

Sign = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command is used, outside of the checkout."""
    return tmp_path_factory.mktemp("package")


@pytest.fixture(scope="module")
def sign(folder: Path) -> Sign:
    """The ``sign`` command of a new environment that has the wheel, and the dependencies of this one."""
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
    assert unknown.stderr == "error: tain: no such command; did you mean train?\n"


@pytest.mark.slow
def test_the_wheel_has_the_embedded_graphs_and_their_source(sign: Sign, folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        for file in (REPOSITORY / "src" / "sign" / "datasets" / "files").iterdir():
            assert archive.read(f"sign/datasets/files/{file.name}") == file.read_bytes()
        assert "sign/conf/dataset/debian.yaml" in archive.namelist()


@pytest.mark.slow
def test_the_installed_command_trains_predicts_and_exports(sign: Sign, folder: Path) -> None:
    small = ("model.p=1", "training.max_epochs=1", "logger=csv")
    trained = sign("train", "dataset=cora", *small)
    assert trained.returncode == 0, trained.stderr
    assert "SIGN(1,0,0) on cora" in trained.stdout
    (run,) = folder.glob("outputs/cora/*/*")
    predicted = sign("predict", f"run={run}", "output=predictions.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert len((folder / "predictions.csv").read_text().splitlines()) == 2708 + 1
    exported = sign("export", f"run={run}", "path=model", "measure=false")
    assert exported.returncode == 0, exported.stderr
    assert (folder / "model" / "model.json").is_file()
    help_text = sign("predict", "--help").stdout
    assert "sign predict run=" in help_text
    assert "python src" not in help_text
