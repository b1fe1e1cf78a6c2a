"""The worker side of a sweep."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from common.paths import REPOSITORY

from sign.search.worker import PARENT, RESULT, as_worker


def run(code: str, **variables: str) -> subprocess.CompletedProcess:
    variables["PYTHONPATH"] = str(REPOSITORY / "src")
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True)


def test_a_worker_writes_the_value_of_its_task_and_hides_its_variables(tmp_path: Path) -> None:
    code = "import os; from sign.search.worker import as_worker; as_worker(lambda: 0.5)(); "
    code += f"print([name in os.environ for name in ({RESULT!r}, {PARENT!r})])"
    result = run(code, **{RESULT: str(tmp_path / "result.json"), PARENT: str(os.getpid())})
    assert result.stdout == "[False, False]\n"
    assert json.loads((tmp_path / "result.json").read_text()) == {"value": 0.5}


def test_without_a_parent_the_task_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RESULT, raising=False)
    assert as_worker(print) is print


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux only")
def test_a_worker_whose_parent_has_died_does_not_start(tmp_path: Path) -> None:
    code = "from sign.search.worker import as_worker; as_worker(print); print('started')"
    result = run(code, **{RESULT: str(tmp_path / "result.json"), PARENT: "1"})
    assert (result.returncode, result.stdout) == (-signal.SIGKILL, "")
