"""The command ``src/report.py``: its arguments, and what it prints."""

from pathlib import Path

import pytest
from common.run_folders import make_run, make_study
from hydra import compose, initialize_config_dir

from sign.commands.report import MAX_ROWS, main
from sign.config.configure import CONF
from sign.errors import SignError


def report(*overrides: str) -> None:
    with initialize_config_dir(str(CONF)):
        cfg = compose("report", overrides=list(overrides))
    main(cfg)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("folders=[]", "folders=[]: give folders that hold runs"),
        ("folders=nowhere", "folders=nowhere: no such folder"),
        ("folders=[.]", "folders=[.]: no runs found"),
        ("output=null", "output=None: must be a"),
    ],
)
def test_invalid_request_is_rejected_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, override: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    with pytest.raises(SignError) as caught:
        report(override)
    assert str(caught.value).startswith(message)
    assert not (tmp_path / "report").exists()


def test_summary_counts_runs_searches_and_problems(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for number in range(MAX_ROWS + 3):
        make_run(tmp_path / "runs" / f"{number}", model=f"SIGN({number},0,0)")
    make_run(tmp_path / "runs" / "cut", model="MLP", finished=False)
    make_study(tmp_path / "runs" / "cora" / "sign" / "search", trials=4)
    report(f"folders={tmp_path / 'runs'}", f"output={tmp_path / 'report'}")
    out = capsys.readouterr().out
    assert "and 3 more groups" in out
    assert "23 finished runs, 1 search, 1 unfinished or damaged folder\n" in out
    assert (tmp_path / "report" / "index.html").is_file()
