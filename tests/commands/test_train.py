"""The summaries of a run and of a series fit on a terminal of 80 columns."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from sign.commands import train
from sign.config.settings import Settings
from sign.runs import SCORES, Series, over_seeds
from sign.system.atomic_files import write_json

COSTS = {"parameters": 1_014_471, "epochs": 500, "memory/peak_bytes": 8e9}
COSTS |= {"seconds/precompute": 1234.5678, "seconds/epoch": 12.3456, "seconds/inference": 0.1234}


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    console = Console(file=io.StringIO(), width=80)
    monkeypatch.setattr(train, "console", console)
    return console.file


def metrics(*names: str) -> dict[str, float]:
    return {f"{split}/{name}": 0.5 for split in ("train", "val", "test") for name in names} | COSTS


def rows(text: str) -> list[str]:
    return [line.strip("│┃ ") for line in text.splitlines() if line.startswith(("│", "┃"))]


def test_a_run_has_one_row_per_metric_that_its_data_have(
    configured: Callable[..., Settings], screen: io.StringIO
) -> None:
    train.print_run(configured(), metrics("loss", "accuracy", "macro_f1", "roc_auc"))
    first = [row.split("│")[0].strip() for row in rows(screen.getvalue())[1:]]
    assert first[:5] == ["accuracy", "macro-F1", "ROC-AUC", "loss", "parameters"]
    assert all(len(line) <= 80 and "…" not in line for line in screen.getvalue().splitlines()[:-1])


def test_a_series_has_the_mean_of_every_metric(tmp_path: Path, screen: io.StringIO) -> None:
    over = over_seeds([metrics("loss", *SCORES)] * 2)
    description = {"dataset": "a graph with quite a long name", "model": "SIGN(4,2,1)", "seeds": [0, 1]}
    write_json(tmp_path / "series.json", description | {"metrics": over})
    train.print_series(Series(tmp_path))
    text = screen.getvalue()
    assert "test average precision" in text
    assert all(len(line) <= 80 and "…" not in line for line in text.splitlines()[:-1])
