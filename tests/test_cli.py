"""The commands as a user types them."""

import os
import re
import runpy
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from common.commands import SLOW, checkout, command, imports, run_here
from common.paths import REPOSITORY
from common.run_folders import make_run
from hydra.errors import HydraException

from sign.cli import error_message
from sign.errors import SignError


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("dataset=nowhere", "dataset=nowhere: no such choice; choose one of amazon, "),
        ("model.p=-1", "model.p=-1: a power must be an integer >= 0"),
        ("seed=abc", "seed=abc: must be an integer"),
        ("paths.output_dir=/dev/null/x", "paths.output_dir=/dev/null/x: cannot be written"),
        ("model.q=1", "model.q: there is no such setting"),
        ("model.p", "model.p: cannot be parsed as name=value"),
    ],
)
def test_a_wrong_setting_is_reported_in_one_line_before_torch_is_imported(
    tmp_path: Path, override: str, message: str
) -> None:
    result = command(tmp_path, override, PYTHONPROFILEIMPORTTIME="1")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("import time:")]
    assert result.returncode == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"error: {message}")
    assert not imports(result.stderr) & set(SLOW)
    assert not list(tmp_path.rglob("*.*"))


class Refused(HydraException):
    """As Hydra wraps the errors of OmegaConf."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SignError("model.p=-1: too small"), "model.p=-1: too small"),
        (FileNotFoundError(2, "No such file or directory", "/x"), "/x: no such file or directory"),
        (OSError(28, "No space left on device"), "no space left on device"),
        (Refused("Could not override 'model.q'.\nKey 'q' is not in struct"), "model.q: there is no such setting"),
        (Refused("several\n  lines"), "several lines"),
    ],
)
def test_an_expected_error_is_one_line(error: Exception, message: str) -> None:
    assert error_message(error).startswith(message)
    assert "\n" not in error_message(error)


def test_the_full_error_is_a_traceback(tmp_path: Path) -> None:
    result = command(tmp_path, "model.p=-1", HYDRA_FULL_ERROR="1")
    assert result.returncode != 0
    assert "Traceback" in result.stderr


def test_help_teaches_without_the_slow_libraries(tmp_path: Path) -> None:
    result = command(tmp_path, "--help", PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0
    assert not imports(result.stderr) & set(SLOW)
    for taught in ("src/train.py model.p=4", "communities, cora", "ckpt_path", "inception_units"):
        assert taught in result.stdout


@pytest.mark.slow
def test_precompute_fills_the_store_prints_its_folders_and_stops(tmp_path: Path) -> None:
    first = command(tmp_path, "model.p=4", program="precompute")
    assert first.returncode == 0, first.stderr
    assert "5 hop arrays computed with 4 products, 0 found" in first.stdout
    printed = [Path(line) for line in first.stdout.splitlines() if Path(tmp_path, line, "manifest.json").is_file()]
    assert len(printed) == 2
    second = command(tmp_path, "model.p=5", program="precompute")
    assert "1 hop array computed with 1 product, 5 found" in second.stdout
    assert not list((tmp_path / "outputs").rglob("*"))


def readme_commands() -> list[str]:
    """The python commands in the README's shell blocks."""
    blocks = re.findall(r"```bash\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("python ")]


def test_the_readme_has_commands() -> None:
    assert len(readme_commands()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("line", readme_commands())
def test_the_readme_is_true(line: str, tmp_path: Path) -> None:
    """In this process, as most of them take less time than to import torch and Lightning once more."""
    checkout(tmp_path)
    assert not run_here(tmp_path, *shlex.split(line)[1:])
    assert "HYDRA_FULL_ERROR" not in os.environ


def test_a_report_is_written_without_the_slow_libraries(tmp_path: Path) -> None:
    make_run(tmp_path / "outputs" / "a")
    result = command(tmp_path, "folders=outputs", "output=seen", program="report", PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0, result.stderr
    assert not imports(result.stderr) & set(SLOW)
    assert str(tmp_path / "seen" / "index.html") in result.stdout
    assert sorted(file.name for file in (tmp_path / "seen").iterdir()) == ["index.html", "report.md"]


@pytest.fixture
def attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command in this process: its exit code and what it wrote to stderr."""

    def call(program: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{program}.py", *arguments])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(REPOSITORY / "src" / f"{program}.py"), run_name="__main__")
        assert not list(tmp_path.rglob("run.json"))
        return end.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train experiment=flickr_sign_41", "experiment=flickr_sign_41: no such choice; did you mean flickr_sign_401,"),
        ("train tuned=cora_sgin", "tuned=cora_sgin: no such choice; did you mean cora_sgcn, cora_sign"),
        ("train -m hparams_search=tep", "hparams_search=tep: no such choice; did you mean tpe?"),
        ("train -m experiment=flickr_sign_41", "experiment=flickr_sign_41: no such choice; did you mean"),
        ("train -m model=sign,sgn", "model=sgn: no such choice; did you mean sagn, sgcn, sign"),
        ("train -m seed=0,1 model.dropuot=0.3", "model.dropuot: there is no such setting; did you mean model.dropout?"),
        ("train operator@model.operators.s=heta", "operator=heta: no such choice; did you mean heat?"),
        ("describe dataset=corra", "dataset=corra: no such choice; did you mean cora?"),
        ("precompute engine=sprak", "engine=sprak: no such choice; did you mean spark?"),
        ("store trainer=cup", "trainer=cup: no such choice; did you mean cpu"),
        ("workspace logger=wandbb", "logger=wandbb: no such choice; did you mean wandb?"),
        ("report paths=defualt", "paths=defualt: no such choice; did you mean default?"),
        ("train model.dropuot=0.3", "model.dropuot: there is no such setting; did you mean model.dropout?"),
        ("train training.dropout=0.3", "training.dropout: there is no such setting; did you mean model.dropout?"),
        ("train training={monitr:x}", "training.monitr: there is no such setting; did you mean training.monitor?"),
        ("train training.monitor.x=1", "training.monitor.x: there is no such setting; training.monitor is a value"),
        ("train dataset.foo=1", "dataset.foo: there is no such setting; --help shows all"),
        ("train operator=heat", "operator: there is no such setting; a file of this group is chosen by operator@model"),
        ("train +operator=heat", "operator: there is no such setting; --help shows all"),
        ("train operators=heat", "operators: there is no such setting; did you mean model.operators?"),
        ("train +operator@model.operators.z=heat", "model.z: the operator has no highest power; add one, such as +"),
        ("train ~model.q", "~model.q: there is no such setting or choice to remove"),
        ("train ~dataset", "dataset and model: choose one file of each group, such as dataset=cora model=sign"),
        ("train +dataset=cora", "+dataset: it is chosen already; change it without a plus sign"),
        ("train +model=mlp", "+model: it is chosen already; change it without a plus sign"),
        ("train model.p=1,2", "model.p=1,2: several values are a sweep, which needs -m"),
        ("train experiment=[a,b]", "experiment=b: no such choice; choose one of citeseer_public"),
        ("train model.p=${x}", "${x}: there is no such setting"),
        ("train model.p=${oc.env:NOPE}", "${oc.env:NOPE}: this environment variable is not set; set it, or give a"),
        ("train --config-name nope", "--config-name nope: there is no such configuration"),
        ("train --config-dir /nope", "--config-dir /nope: there is no such folder"),
        ("train datset=cora", "datset: there is no such setting; did you mean dataset"),
        ("reproduce tabel=all", "tabel: there is no such setting; did you mean table?"),
        ("train -p 4", "-p 4: not a flag; settings are written name=value: model.p=4"),
        ("train dataset=null", "dataset=null: no such choice; choose one of amazon, "),
        ("train model=null", "model=null: no such choice; choose one of asgcn, chebnet, "),
        ("train paths=null", "paths=null: no such choice; choose one of default"),
        ("train model=1", "model=1: no such choice"),
        ("train hydra=null", "hydra: there is no such setting"),
        ("train model.p=99999999999999999999", "model.p=99999999999999999999: a power must be <= 1000"),
        ("train -m seed=0,1 hydra.launcher._target_=x", "_target_=x: not a plugin of Hydra"),
        ("train ckpt_path=nowhere", "ckpt_path=nowhere: no such file; give a run folder"),
        ("train model.name=../../x", "model.name=../../x: is used as a folder name"),
        ("train dataset.name=a\x1b[31mb", r"dataset.name=a\x1b[31mb: cannot be parsed"),
    ],
)
def test_nonsense_is_answered_with_one_line(attempt: Callable[..., tuple[int, str]], line: str, message: str) -> None:
    code, stderr = attempt(*line.split(" "))
    assert code == 1
    assert stderr.startswith(f"error: {message}")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("Unable to allocate 6.55 TiB"), "not enough memory (Unable to allocate 6.55 TiB)"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate"), "not enough memory ([enforce fail] "),
    ],
)
def test_too_little_memory_is_an_expected_error(error: Exception, message: str) -> None:
    assert error_message(error).startswith(message)
