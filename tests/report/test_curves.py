"""Metrics per epoch, thinned out for the page."""

from pathlib import Path

import numpy as np
import pytest
from common.run_folders import make_run, read_records

from sign.report.curves import MAX_NUMBERS, MIN_POINTS, curve, curves


def test_thinned_curve_keeps_first_last_and_best_epoch_and_starts_after_precomputation(tmp_path: Path) -> None:
    make_run(tmp_path / "a", epochs=400)
    (record,) = read_records(tmp_path)
    whole, thin = curve(record, 400), curve(record, 40)
    best = int(np.argmax(whole["metrics"]["val/accuracy"]))
    assert whole["epoch"] == list(range(400))
    assert whole["seconds"][0] == pytest.approx(0.02 + record.epochs[0]["seconds/epoch"], rel=1e-4)
    assert np.all(np.diff(whole["seconds"]) > 0)
    assert len(thin["epoch"]) <= 40
    assert {0, best, 399} <= set(thin["epoch"])


def test_curves_of_a_thousand_runs_stay_within_the_limit(tmp_path: Path) -> None:
    make_run(tmp_path / "a", epochs=500)
    many = read_records(tmp_path) * 1000
    drawn = curves(many)
    numbers = sum(len(thin["epoch"]) * (2 + len(thin["metrics"])) for thin in drawn)
    assert numbers <= 1.2 * MAX_NUMBERS
    assert min(len(thin["epoch"]) for thin in drawn) >= MIN_POINTS
