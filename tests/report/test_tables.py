"""Rows of the report's tables: means over seeds, published numbers, costs, hops and settings."""

from pathlib import Path

import numpy as np
import pytest
from common.run_folders import make_run, read_records

from sign.report import tables


def test_comparison_has_mean_and_std_over_seeds_beside_the_published_number(tmp_path: Path) -> None:
    values = [
        make_run(tmp_path / str(seed), seed=seed, score=0.5, experiment="flickr_sign_401")["test/accuracy"]
        for seed in range(4)
    ]
    (row,) = tables.comparison(read_records(tmp_path))
    assert (row["dataset"], row["model"], row["runs"], row["seeds"]) == ("flickr", "SIGN(4,0,1)", 4, [0, 1, 2, 3])
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["std"] == pytest.approx(np.std(values))
    assert (row["paper"], row["paper_std"]) == (0.514, 0.001)
    assert row["difference"] == pytest.approx(np.mean(values) - 0.514)
    assert row["beyond"]


def test_trials_of_a_search_are_no_results(tmp_path: Path) -> None:
    make_run(tmp_path / "a", score=0.5)
    make_run(tmp_path / "b", score=0.9, job_type="search")
    assert [row["job_type"] for row in tables.comparison(read_records(tmp_path))] == ["train"]


def test_changes_count_the_runs_per_value(tmp_path: Path) -> None:
    for seed, rate in enumerate((0.01, 0.01, 0.1)):
        make_run(tmp_path / str(seed), seed=seed, learning_rate=rate)
    changes = {row["setting"]: row["values"] for row in tables.changes(read_records(tmp_path))}
    assert changes["training.learning_rate"] == {"0.01": 2, "0.1": 1}
    assert "training.batch_size" not in changes


def test_costs_and_hops_are_sums_over_runs(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path / str(seed), seed=seed)
    (cost,) = tables.costs(read_records(tmp_path))
    assert (cost["bytes"], cost["products"], cost["rows_saved"]) == (4 * 6_000_128, 6, 6000)
    seconds = [sum(row["seconds/epoch"] for row in record.epochs) for record in read_records(tmp_path)]
    assert cost["training"] == pytest.approx(np.mean(seconds))
    hops = tables.hops(read_records(tmp_path))
    assert [(hop["hop"], hop["computed"], hop["found"]) for hop in hops] == [
        (name, 1, 1) for name in ("X", "p1", "p2", "p3")
    ]
