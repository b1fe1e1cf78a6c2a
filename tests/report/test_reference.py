"""The published number that a group is compared with."""

from pathlib import Path

import pytest
from common.run_folders import make_run, read_records

from sign.report import tables
from sign.report.columns import PAPER, cell
from sign.report.groups import group_runs
from sign.report.reference import Reference, reference


def reference_of(folder: Path) -> Reference | None:
    (group,) = group_runs(read_records(folder))
    return reference(group)


def test_reference_is_the_number_of_the_test_split(tmp_path: Path) -> None:
    make_run(tmp_path / "a", experiment="flickr_sign_401")
    assert reference_of(tmp_path) == Reference(
        metric="micro_f1",
        mean=0.514,
        std=0.001,
        digits=3,
        source="the paper's table of inductive results",
        comparable=True,
    )


def test_percentages_become_fractions_with_as_many_digits_as_printed(tmp_path: Path) -> None:
    make_run(tmp_path / "a", experiment="products_sign_300")
    found = reference_of(tmp_path)
    assert (found.mean, found.std) == (pytest.approx(0.7652), pytest.approx(0.0014))
    assert found.digits == 4


@pytest.mark.parametrize("experiment", ["unknown", "products_timing_2"])
def test_no_reference_without_a_published_number_of_the_test_split(tmp_path: Path, experiment: str) -> None:
    make_run(tmp_path / "a", experiment=experiment)
    assert reference_of(tmp_path) is None


@pytest.mark.parametrize(
    ("dataset", "model", "published"),
    [
        ("flickr", "SIGN(4,0,1)", 0.514),
        ("ogbn-products", "S-GCN(L=5)", 0.7487),
        ("flickr", "SIGN(9,0,1)", None),
        ("cora", "SIGN(4,0,1)", None),
        ("flickr", "GraphSAINT", 0.511),
    ],
)
def test_run_without_an_experiment_has_the_number_of_its_data_set_and_model(
    tmp_path: Path, dataset: str, model: str, published: float | None
) -> None:
    make_run(tmp_path / "a", dataset, model)
    found = reference_of(tmp_path)
    assert (found and found.mean) == (published and pytest.approx(published))


def test_generated_data_show_the_published_number_without_a_difference(tmp_path: Path) -> None:
    make_run(tmp_path / "a", "flickr-like", experiment="flickr_sign_401")
    file = tmp_path / "a" / "config.yaml"
    file.write_text(
        file.read_text().replace("name: flickr-like", "_target_: sign.datasets.synthetic.lookalike.Lookalike")
    )
    (row,) = tables.comparison(read_records(tmp_path))
    assert (row["paper"], row["difference"]) == (0.514, None)
    assert cell(row, PAPER) == "0.514 ± 0.001 (generated data, not comparable)"
