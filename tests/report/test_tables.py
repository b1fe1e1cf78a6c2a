"""Rows of the report's tables: means over seeds, published numbers, costs, hops and settings."""

from pathlib import Path

import numpy as np
import pytest
from common.run_folders import add_classes, make_multilabel, make_run, read_records

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


def test_few_epochs_at_the_limit_of_the_training_are_brief_and_come_last(tmp_path: Path) -> None:
    for name, epochs, limit in (("A", 1, 1), ("B", 90, 500), ("C", 8, 8), ("D", 8, 500), ("E", 9, 9)):
        make_run(tmp_path / name, "cora", name, epochs=epochs, max_epochs=limit)
    make_run(tmp_path / "other", "pubmed", "F", epochs=6, max_epochs=6)
    rows = tables.comparison(read_records(tmp_path))
    found = [(row["dataset"], row["model"], row["epochs"], row["brief"]) for row in rows]
    assert found == [
        ("cora", "B", 90, False),
        ("cora", "D", 8, False),  # stopped early
        ("cora", "E", 9, False),  # a tenth of B's
        ("cora", "A", 1, True),
        ("cora", "C", 8, True),
        ("pubmed", "F", 6, False),
    ]


def test_one_epoch_is_brief_even_if_no_run_was_trained_longer(tmp_path: Path) -> None:
    make_run(tmp_path / "a", epochs=1)
    assert [row["brief"] for row in tables.comparison(read_records(tmp_path))] == [True]


def test_results_name_the_training_settings_in_which_models_differ(tmp_path: Path) -> None:
    make_run(tmp_path / "a", model="SIGN(2,0,0)", learning_rate=0.1)
    make_run(tmp_path / "b", model="MLP")
    found = {row["model"]: row["settings"] for row in tables.comparison(read_records(tmp_path))}
    assert found == {"SIGN(2,0,0)": "learning_rate=0.1", "MLP": "learning_rate=0.01"}


def test_further_metrics_have_mean_and_std(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path / str(seed), seed=seed)
        add_classes(tmp_path / str(seed), ["a", "b"])
    (row,) = tables.comparison(read_records(tmp_path))
    assert (row["macro_f1"], row["macro_f1_std"], row["roc_auc"]) == (0.71, 0.0, 0.91)
    assert row["average_precision"] == pytest.approx(0.81)


def test_number_of_another_metric_is_not_compared(tmp_path: Path) -> None:
    make_run(tmp_path / "a", experiment="products_sign_300")  # the paper has its accuracy
    make_multilabel(tmp_path / "a")
    (row,) = tables.comparison(read_records(tmp_path))
    assert (row["metric"], row["paper"], row["difference"]) == ("micro-F1", None, None)


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
