"""Groups of runs: which runs belong together, and the names that distinguish groups."""

from pathlib import Path

from common.run_folders import make_run, read_records

from sign.report.groups import Group, group_runs
from sign.report.run_records import read_runs


def groups(folder: Path) -> list[Group]:
    return group_runs(read_records(folder))


def test_runs_that_differ_in_their_seed_form_one_group(tmp_path: Path) -> None:
    for seed in (2, 0, 1):
        make_run(tmp_path / str(seed), seed=seed)
    (group,) = groups(tmp_path)
    assert [record.seed for record in group.finished] == [0, 1, 2]
    assert (group.variant, group.label) == ("", "SIGN(4,0,1)")


def test_only_the_latest_run_of_a_seed_counts(tmp_path: Path) -> None:
    make_run(tmp_path / "a", seed=0, score=0.4)
    latest = make_run(tmp_path / "b", seed=0, score=0.5)
    make_run(tmp_path / "c", seed=1, finished=False)
    records, _ = read_runs([tmp_path])
    (group,) = group_runs(records)
    assert len(group.records) == 3
    assert group.over_seeds()["test/accuracy"]["values"] == [latest["test/accuracy"]]


def test_variant_names_the_settings_that_differ(tmp_path: Path) -> None:
    make_run(tmp_path / "a", learning_rate=0.1)
    make_run(tmp_path / "b", learning_rate=0.0123456789)
    first, second = groups(tmp_path)
    assert (first.variant, second.variant) == ("learning_rate=0.1", "learning_rate=0.01235")
    assert first.label == "SIGN(4,0,1) · learning_rate=0.1"


def test_variant_names_at_most_three_settings(tmp_path: Path) -> None:
    make_run(tmp_path / "a", a=1, b=1, c=1, d=1, e=1)
    make_run(tmp_path / "b", a=2, b=2, c=2, d=2, e=2)
    assert [group.variant for group in groups(tmp_path)] == ["a=1, b=1, c=1, and 2 more", "a=2, b=2, c=2, and 2 more"]


def test_label_names_the_experiment_where_one_model_has_several(tmp_path: Path) -> None:
    make_run(tmp_path / "a", experiment="flickr_sign_401")
    make_run(tmp_path / "b", experiment="other")
    make_run(tmp_path / "c", model="MLP", experiment="flickr_mlp")
    assert [group.label for group in groups(tmp_path)] == [
        "MLP",
        "SIGN(4,0,1) · flickr_sign_401",
        "SIGN(4,0,1) · other",
    ]


def test_label_names_the_job_type_of_searches_and_of_mixed_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    make_run(tmp_path / "b", job_type="search")
    assert [group.label for group in groups(tmp_path)] == ["SIGN(4,0,1) · search", "SIGN(4,0,1)"]
    make_run(tmp_path / "c", job_type="reproduce")
    assert {group.label for group in groups(tmp_path)} == {
        "SIGN(4,0,1) · search",
        "SIGN(4,0,1) · train",
        "SIGN(4,0,1) · reproduce",
    }


def test_groups_are_in_natural_order_of_their_models(tmp_path: Path) -> None:
    for power in (10, 2):
        make_run(tmp_path / str(power), model=f"SIGN({power},0,0)")
    assert [group.model for group in groups(tmp_path)] == ["SIGN(2,0,0)", "SIGN(10,0,0)"]
