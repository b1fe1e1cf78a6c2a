"""Run folders as plain rows: means over seeds, the paper's numbers, and nothing that stops the report."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from common.overrides import SMALL
from common.run_folders import make_run, make_study

from sign.config.settings import Settings
from sign.experiments.run import train
from sign.report import tables
from sign.report.columns import RESULTS, ColumnSpec, cell, markdown
from sign.report.curves import MAX_NUMBERS, MIN_POINTS, curve, curves
from sign.report.html import page_data, render
from sign.report.run_records import RunRecord, read_runs
from sign.report.studies import read_studies
from sign.report.write import Report


def records(folder: Path) -> list[RunRecord]:
    found, problems = read_runs([folder])
    assert problems == []
    return found


def test_a_row_is_the_mean_over_seeds_beside_the_published_number(tmp_path: Path) -> None:
    values = [
        make_run(tmp_path / str(seed), seed=seed, score=0.5, experiment="flickr_sign_401")["test/accuracy"]
        for seed in range(4)
    ]
    (row,) = tables.comparison(records(tmp_path))
    assert (row["dataset"], row["model"], row["runs"], row["seeds"]) == (
        "flickr",
        "SIGN(4,0,1)",
        4,
        [0, 1, 2, 3],
    )
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["std"] == pytest.approx(np.std(values))
    assert (row["paper"], row["paper_std"]) == (0.514, 0.001)
    assert row["difference"] == pytest.approx(np.mean(values) - 0.514)
    assert row["beyond"]


def test_a_percentage_is_compared_as_a_share(tmp_path: Path) -> None:
    make_run(tmp_path / "a", "ogbn-products", "SIGN(3,0,0)", score=0.75, experiment="products_sign_300")
    (row,) = tables.comparison(records(tmp_path))
    assert row["paper"] == pytest.approx(0.7652)
    assert (
        cell(row, ColumnSpec("paper", "", "score", spread="paper_std", digits="paper_digits"))
        == "0.7652 ± 0.0014"
    )
    assert row["std"] is None  # of one run


def test_generated_look_alikes_have_no_difference(tmp_path: Path) -> None:
    make_run(tmp_path / "a", "flickr-like", experiment="flickr_sign_401")
    file = tmp_path / "a" / "config.yaml"
    file.write_text(
        file.read_text().replace("name: flickr-like", "_target_: sign.datasets.synthetic.lookalike.Lookalike")
    )
    (row,) = tables.comparison(records(tmp_path))
    assert (row["paper"], row["difference"]) == (0.514, None)
    assert "not comparable" in row["source"]


def test_other_settings_are_another_group_and_a_repeated_seed_counts_once(tmp_path: Path) -> None:
    make_run(tmp_path / "a", seed=0, score=0.4)
    again = make_run(tmp_path / "b", seed=0, score=0.5)
    make_run(tmp_path / "c", seed=0, score=0.6, learning_rate=0.1)
    make_run(tmp_path / "d", seed=0, score=0.9, job_type="search", learning_rate=0.1)
    first, second = tables.comparison(records(tmp_path))
    assert (first["variant"], second["variant"]) == ("learning_rate=0.01", "learning_rate=0.1")
    assert (first["runs"], first["mean"]) == (1, again["test/accuracy"])
    changed = {row["setting"]: row["values"] for row in tables.changes(records(tmp_path))}
    assert changed["training.learning_rate"] == {"0.01": 2, "0.1": 2}
    assert "training.batch_size" not in changed


def test_models_stand_in_the_order_of_their_powers_and_files_of_a_tracker_are_no_runs(tmp_path: Path) -> None:
    for power in (10, 2):
        make_run(tmp_path / str(power), model=f"SIGN({power},0,0)")
    files = tmp_path / "2" / "wandb" / "offline-run" / "files"
    files.mkdir(parents=True)
    (files / "config.yaml").write_text("{}")
    assert [row["model"] for row in tables.comparison(records(tmp_path))] == ["SIGN(2,0,0)", "SIGN(10,0,0)"]


def test_costs_and_hops_add_up(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path / str(seed), seed=seed)
    (cost,) = tables.costs(records(tmp_path))
    assert (cost["bytes"], cost["products"], cost["rows_saved"]) == (4 * 6_000_128, 6, 6000)
    seconds = [sum(row["seconds/epoch"] for row in record.epochs) for record in records(tmp_path)]
    assert cost["training"] == pytest.approx(np.mean(seconds))
    hops = tables.hops(records(tmp_path))
    assert [(hop["hop"], hop["computed"], hop["found"]) for hop in hops] == [
        (name, 1, 1) for name in ("X", "p1", "p2", "p3")
    ]


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("run.json", "{", "damaged: run.json: cannot be read"),
        ("run.json", "[]", "damaged: run.json: is not a JSON object"),
        ("run.json", '{"dataset": 5}', "damaged: run.json: dataset=5: must be a non-empty string"),
        ("run.json", None, "damaged: no run.json"),
        ("metrics.json", "", "damaged: metrics.json: cannot be read"),
        ("metrics.json", None, "not finished: 30 epochs and no checkpoint"),
        (
            "metrics.csv",
            "epoch,val/loss\n0,abc\n",
            "damaged: metrics.csv: contains a value that is not a number",
        ),
        ("config.yaml", "a: [", "damaged: config.yaml: cannot be read as a configuration"),
        ("config.yaml", "- 1", "damaged: config.yaml: is not a configuration"),
        ("config.yaml", None, "damaged: config.yaml: cannot be read"),
    ],
)
def test_a_damaged_folder_is_named_and_the_others_are_reported(
    tmp_path: Path, file: str, text: str | None, reason: str
) -> None:
    make_run(tmp_path / "good", seed=0)
    make_run(tmp_path / "bad", seed=1)
    (tmp_path / "bad" / file).unlink() if text is None else (tmp_path / "bad" / file).write_text(text)
    found, (problem,) = read_runs([tmp_path])
    assert problem.folder == str(tmp_path / "bad")
    assert problem.reason.startswith(reason)
    assert [row["runs"] for row in tables.comparison(found)] == [1]
    render(page_data(found, [problem], []))


def test_numbers_that_are_not_finite_are_left_out(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    (tmp_path / "a" / "metrics.json").write_text('{"test/accuracy": NaN, "val/accuracy": "x", "epochs": 2}')
    (row,) = tables.comparison(records(tmp_path))
    assert row["mean"] is None
    assert "NaN" not in render(page_data(records(tmp_path), [], []))


def test_a_curve_starts_after_precomputation_and_keeps_its_ends_and_its_best(tmp_path: Path) -> None:
    make_run(tmp_path / "a", epochs=400)
    (record,) = records(tmp_path)
    whole, thin = curve(record, 400), curve(record, 40)
    best = int(np.argmax(whole["metrics"]["val/accuracy"]))
    assert whole["epoch"] == list(range(400))
    assert whole["seconds"][0] == pytest.approx(0.02 + record.epochs[0]["seconds/epoch"], rel=1e-4)
    assert np.all(np.diff(whole["seconds"]) > 0)
    assert len(thin["epoch"]) <= 40
    assert {0, best, 399} <= set(thin["epoch"])


def test_a_thousand_long_runs_stay_small(tmp_path: Path) -> None:
    make_run(tmp_path / "a", epochs=500)
    many = records(tmp_path) * 1000
    drawn = curves(many)
    numbers = sum(len(one["epoch"]) * (2 + len(one["metrics"])) for one in drawn)
    assert numbers <= 1.2 * MAX_NUMBERS
    assert min(len(one["epoch"]) for one in drawn) >= MIN_POINTS


def test_a_search_is_read_with_the_best_value_so_far(tmp_path: Path) -> None:
    made = make_study(tmp_path / "flickr" / "sign" / "search-one", trials=8)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "study.json").write_text('{"trials": 3}')
    (study,), (problem,) = read_studies([tmp_path])
    assert problem.reason == "damaged: study.json: has no list of trials"
    assert (study["dataset"], study["direction"]) == ("flickr", "minimize")
    assert list(study["importances"]) == ["training.learning_rate", "model.dropout"]
    complete = [trial["value"] for trial in made["trials"] if trial["state"] == "COMPLETE"]
    assert study["trials"][-1]["best"] == min(complete)
    assert study["trials"][3]["value"] is None
    assert study["trials"][3]["reason"] == "training diverged"


def test_markdown_keeps_strange_names_in_their_cells(tmp_path: Path) -> None:
    make_run(tmp_path / "a", dataset="a|b<i>_c_")
    text = markdown(RESULTS, tables.comparison(records(tmp_path)))
    head, _, row, *_ = text.splitlines()
    assert head.count("|") == row.count("|")
    assert r"a&#124;b&#60;i&#62;\_c\_" in row


def test_a_real_run_is_reported_as_it_was(configured: Callable[..., Settings], tmp_path: Path) -> None:
    settings = configured(*SMALL, "training.max_epochs=2")
    numbers = train(settings)
    page = Report.read([settings.output_dir]).write(tmp_path / "report")
    (row,) = tables.runs(records(settings.output_dir))
    assert (row["dataset"], row["test"], row["epochs"]) == ("communities", numbers["test/accuracy"], 2)
    assert f"{numbers['test/accuracy']:.4f}" in (page.parent / "report.md").read_text()
    shown = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])
    assert shown["results"][0]["mean"] == numbers["test/accuracy"]
    assert shown["runs"][0]["curve"]["epoch"] == [0, 1]
