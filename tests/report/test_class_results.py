"""Metrics per class and confusion matrices of the report."""

from pathlib import Path

from common.run_folders import add_classes, make_run, read_records

from sign.report import run_records
from sign.report.class_results import class_results
from sign.runs import Run


def test_group_is_shown_by_its_run_with_the_best_validation_score(tmp_path: Path) -> None:
    numbers = {seed: make_run(tmp_path / str(seed), seed=seed)["val/accuracy"] for seed in range(4)}
    for seed in (0, 1, 2):
        add_classes(tmp_path / str(seed), ["a", "b"])
    (found,) = class_results(read_records(tmp_path))
    best = max((0, 1, 2), key=numbers.__getitem__)
    assert (found["dataset"], found["label"], found["seed"]) == ("flickr", "SIGN(4,0,1)", best)
    assert [row["class"] for row in found["rows"]] == ["a", "b"]
    assert found["confusion"]["classes"] == ["a", "b"]
    assert found["confusion"]["counts"] == Run(tmp_path / str(best)).confusion()[1]


def test_multilabel_runs_have_no_confusion_matrix_and_old_ones_no_classes(tmp_path: Path) -> None:
    make_run(tmp_path / "old", model="MLP")
    make_run(tmp_path / "a")
    add_classes(tmp_path / "a", ["x", "y"], confusion=False)
    (found,) = class_results(read_records(tmp_path))
    assert found["confusion"] is None
    assert len(found["rows"]) == 2


def test_matrix_of_many_classes_is_not_read(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    add_classes(tmp_path / "a", [str(number) for number in range(run_records.MAX_CLASSES + 1)])
    (found,) = class_results(read_records(tmp_path))
    assert found["confusion"] is None
    assert len(found["rows"]) == run_records.MAX_CLASSES + 1


def test_undefined_metric_of_a_class_is_missing(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    (tmp_path / "a" / "per_class.csv").write_text("class,support,precision,recall,f1,threshold\na,0,nan,,0.5,0.4\n")
    (found,) = class_results(read_records(tmp_path))
    assert found["rows"] == [{"class": "a", "support": 0, "precision": None, "recall": None, "f1": 0.5}]
