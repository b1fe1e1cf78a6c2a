"""Trackers receive the final metrics of a run and its tables as plain values."""

import csv
import json
from pathlib import Path

import pytest
from common.run_folders import make_run

from sign.runs import Run
from sign.tracking.run_tables import convergence, hops, paper_comparison, summary, tables


def write_epochs(folder: Path, *rows: dict[str, float]) -> None:
    with (folder / "metrics.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def describe(folder: Path, **changes: object) -> None:
    file = folder / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_the_summary_has_the_final_metrics_and_the_costs_of_the_hops(tmp_path: Path) -> None:
    metrics = make_run(tmp_path / "run")
    costs = {"hops/products": 3, "hops/rows_computed": 6000, "hops/rows_saved": 3000, "hops/bytes": 4 * 6_000_128}
    assert summary(Run(tmp_path / "run")) == metrics | costs


def test_the_summary_of_an_unfinished_run_has_the_costs_of_the_hops_alone(tmp_path: Path) -> None:
    make_run(tmp_path / "run", finished=False)
    names = {"hops/products", "hops/rows_computed", "hops/rows_saved", "hops/bytes"}
    assert set(summary(Run(tmp_path / "run"))) == names


def test_a_run_is_compared_with_the_cells_of_its_experiment(tmp_path: Path) -> None:
    metrics = make_run(tmp_path / "run", experiment="flickr_sign_401")
    (tmp_path / "run" / "metrics.json").write_text(json.dumps({"test/loss": 0.5}))
    assert paper_comparison(Run(tmp_path / "run")).rows == [], "no metric that the paper has"
    (tmp_path / "run" / "metrics.json").write_text(json.dumps(metrics | {"test/accuracy": 0.524}))
    table = paper_comparison(Run(tmp_path / "run"))
    (row,) = [dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == "inductive"]
    assert (row["row"], row["column"], row["metric"]) == ("SIGN", "Flickr", "test/micro_f1")
    assert (row["ours"], row["paper"], row["paper ±"]) == (0.524, 0.514, 0.001)
    assert row["difference"] == pytest.approx(0.01)


def test_convergence_is_validation_by_seconds_of_training(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    rows = [{"seconds/training": 2.0 * n, "train/loss": 9, "val/accuracy": 0.5, "val/loss": n} for n in (1, 2)]
    write_epochs(tmp_path / "run", *rows)
    table = convergence(Run(tmp_path / "run"))
    assert table.columns == ["seconds", "val/loss", "val/accuracy"]
    assert table.rows == [[2.0, 1.0, 0.5], [4.0, 2.0, 0.5]]


def test_results_by_class_are_tables(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    (tmp_path / "run" / "per_class.csv").write_text('class,support,f1\n"a, b",3,0.5\n')
    (tmp_path / "run" / "confusion.csv").write_text("actual / predicted,0,1\n0,2,1\n1,0,4\n")
    found = tables(Run(tmp_path / "run"))
    assert (found["per_class"].columns, found["per_class"].rows) == (["class", "support", "f1"], [["a, b", 3.0, 0.5]])
    assert found["confusion"].rows == [["0", 2.0, 1.0], ["1", 0.0, 4.0]]


def test_every_hop_is_a_row(tmp_path: Path) -> None:
    make_run(tmp_path / "run", seed=1)
    table = hops(Run(tmp_path / "run"))
    assert [row[table.columns.index("name")] for row in table.rows] == ["X", "p1", "p2", "p3"]
    assert [row[table.columns.index("products")] for row in table.rows] == [0, 1, 1, 1]
    assert all(row[table.columns.index("found")] is True for row in table.rows)


def test_tables_without_rows_are_omitted(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    make_run(folder, experiment="flickr_sign_401")
    assert list(tables(Run(folder))) == ["paper", "hops", "convergence"]
    describe(folder, experiment=None)
    assert list(tables(Run(folder))) == ["hops", "convergence"]
    (folder / "metrics.csv").unlink()
    assert list(tables(Run(folder))) == ["hops"]
    describe(folder, experiment=None, hops=[])
    assert tables(Run(folder)) == {}
