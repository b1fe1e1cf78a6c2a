"""The distributions: the wheel, installed outside of the checkout, and the sdist that it can be built from."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from common.paths import REPOSITORY
from hatchling.build import build_sdist, build_wheel

from sign import __version__

Sign = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command is used, outside of the checkout."""
    return tmp_path_factory.mktemp("package")


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    """The wheel of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        return folder / build_wheel(str(folder))


@pytest.fixture(scope="module")
def sign(folder: Path, wheel: Path) -> Sign:
    """The ``sign`` command of a new environment that has the wheel, and the dependencies of this one."""
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
def test_the_wheel_has_the_embedded_graphs_and_their_source(wheel: Path) -> None:
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


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums, without the list of the files itself."""
    with ZipFile(wheel) as archive:
        return {file.filename: file.CRC for file in archive.infolist() if not file.filename.endswith("/RECORD")}


@pytest.mark.slow
def test_the_sdist_has_the_sources_and_builds_the_same_wheel(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / f"sign_gnn-{__version__}"
    for name in ("README.md", "CHANGELOG.md", "LICENSE", "Makefile", "requirements.lock", "docs/conf.py", "tests"):
        assert (source / name).exists(), name
    assert not [path for path in ("data", "outputs", "store", ".venv", ".git") if (source / path).exists()]
    monkeypatch.chdir(source)
    assert contents(tmp_path / build_wheel(str(tmp_path))) == contents(wheel)


@pytest.mark.slow
def test_the_metadata_describe_the_release(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        metadata = archive.read(f"sign_gnn-{__version__}.dist-info/METADATA").decode()
        assert f"sign_gnn-{__version__}.dist-info/licenses/LICENSE" in archive.namelist()
    fields, _, description = metadata.partition("\n\n")
    assert f"\nVersion: {__version__}\n" in fields
    assert "\nDescription-Content-Type: text/markdown" in fields
    assert description.strip() == (REPOSITORY / "README.md").read_text().strip()


def test_the_version_is_that_of_the_newest_release_in_the_changelog_and_is_written_nowhere_else() -> None:
    headings = re.findall(r"^## (.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", headings[1])
    others = ("pyproject.toml", "CITATION.cff", "docs/conf.py", "README.md", "Dockerfile")
    assert not [name for name in others if __version__ in (REPOSITORY / name).read_text()]
