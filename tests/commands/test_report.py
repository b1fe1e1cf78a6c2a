"""The command ``src/report.py``: its arguments, and what it prints."""

from pathlib import Path

import pytest
from common.run_folders import make_run, make_study, read_records
from hydra import compose, initialize_config_dir

from sign.commands.report import MAX_ROWS, main, results_table, show
from sign.config.configure import CONF
from sign.errors import SignError
from sign.report import tables
from sign.report.write import Report


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


def test_results_are_readable_at_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for seed in (0, 1):
        name = "ogbn-papers100M"
        make_run(tmp_path / f"a{seed}", name, "SIGN(3,3,3)", seed, 0.65, experiment="papers100M_sign_333")
        make_run(tmp_path / f"b{seed}", name, "S-GCN(L=3)", seed, 0.63, learning_rate=0.123, epochs=1)
    show(Report.read([tmp_path]))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(" ".join(line.split()) for line in lines)
    assert "…" not in text
    assert "data set model ours paper" in text
    for row, paper in zip(
        tables.comparison(read_records(tmp_path)), ("0.6511 ± 0.0014", "0.6329 ± 0.0019"), strict=True
    ):
        assert f"{row['dataset']} {row['model']} {row['mean']:.4f} ± {row['std']:.4f} {paper}" in text
    for line in ("accuracy papers100M_sign_333,", "learning_rate=0.01", "accuracy, brief learning_rate=0.123"):
        assert line in text.splitlines()


def test_wider_terminal_has_more_columns(tmp_path: Path) -> None:
    make_run(tmp_path / "a", experiment="flickr_sign_401")
    rows = tables.comparison(read_records(tmp_path))
    titles = [[column.header for column in results_table(rows, width).columns] for width in (40, 80, 200)]
    assert titles[0] == ["data set", "model", "ours"]
    assert titles[1] == ["data set", "model", "ours", "paper", "difference", "runs"]
    assert titles[2] == ["data set", "model", "ours", "paper", "difference", "runs", "epochs"]


def test_markup_and_escapes_in_names_are_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    make_run(tmp_path / "a", "[/]a", "\x1b[31mred")
    show(Report.read([tmp_path]))
    out = capsys.readouterr().out
    assert "[/]a" in out
    assert r"\x1b[31mred" in out


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
