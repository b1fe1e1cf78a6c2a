"""The published numbers are those of the paper, and every cell that is ours has an experiment."""

import re

import pytest
import yaml

from sign.config.configure import CONF
from sign.published import FILE, published_cells, published_tables

PAPER = ("inductive", "ablation", "products", "papers100M", "timing", "evaluation")


def test_every_experiment_of_a_table_has_a_configuration() -> None:
    for name in (*PAPER, "heads"):
        for experiment in published_tables()[name].experiments:
            assert (CONF / "experiment" / f"{experiment}.yaml").is_file(), experiment
    assert len(published_tables()["ablation"].experiments) == 28
    for table, row in (("products", "SIGN(5,3,0)"), ("papers100M", "SIGN(3,3,3)")):
        assert all(cell.experiment for cell in published_tables()[table].row(row))


@pytest.mark.parametrize("name", ["inductive", "ablation", "products", "timing"])
def test_every_system_of_the_paper_has_an_experiment_on_every_data_set(name: str) -> None:
    for cell in published_tables()[name].cells:
        assert cell.experiment, cell
        assert cell.experiment.startswith(f"{cell.dataset}_"), cell


def test_every_row_has_one_cell_per_column() -> None:
    for table in published_tables().values():
        assert len(table.cells) == len(table.rows) * len(table.columns)


def test_a_table_of_costs_has_the_runs_of_another_table() -> None:
    scores, memory = published_tables()["baselines"], published_tables()["baselines_memory"]
    assert memory.experiments == scores.experiments
    assert (memory.columns, memory.rows) == (scores.columns, scores.rows)
    cell = memory.row("GCN")[0]
    assert (cell.mean, cell.ours({"memory/peak_bytes": {"mean": 2e9, "std": 1e8}})) == (None, (2.0, 0.1))


def test_decimals_are_those_of_the_paper() -> None:
    digits = {name: table.digits for name, table in published_tables().items()}
    assert [digits[name] for name in PAPER] == [3, 3, 2, 2, 2, 2]


def test_numbers_of_some_cells() -> None:
    (cell,) = [cell for cell in published_cells("flickr_sign_401") if cell.table == "inductive"]
    assert (cell.row, cell.column, cell.mean, cell.std) == ("SIGN", "Flickr", 0.514, 0.001)
    assert {cell.table for cell in published_cells("flickr_sign_401")} == {"inductive", "ablation"}
    test = published_cells("products_sign_530")[-1]
    assert (test.mean, test.std, test.metric) == (77.60, 0.13, "test/accuracy")
    assert test.ours({"test/accuracy": {"mean": 0.5, "std": 0.01}}) == (50.0, 1.0)
    assert cell.metric == "test/micro_f1"  # which single-label runs have under the name of accuracy
    assert cell.ours({"test/accuracy": {"mean": 0.5, "std": 0.01}}) == (0.5, 0.01)
    assert cell.ours({"test/loss": {"mean": 0.5, "std": 0.01}}) is None
    assert published_cells(None) == []
    timing = published_tables()["timing"]
    assert [cell.mean for cell in timing.row("ogbn-products, ClusterGCN")] == [36.93, 13.34, 93.0, None]
    assert [cell.mean for cell in timing.row("Wikipedia, ClusterGCN")] == [None, None, 183.76, None]
    *_, memory = timing.row("Debian, SIGN-8")
    assert memory.ours({"memory/peak_bytes": {"mean": 2.5e9, "std": 1e9}}) == (2.5, 1.0)


@pytest.mark.parametrize("name", ["reddit", "flickr", "ppi", "yelp"])
def test_tuned_settings_of_inductive_data_sets_have_all_digits_of_the_appendix(name: str) -> None:
    """The appendix prints them as the search found them."""
    digits = {
        "reddit": ("0.00012278578238312588", "0.707328910934901", "9.176773905054599e-05", "830", "675"),
        "flickr": ("0.0017230142114465549", "0.7608352140584778", "9.419820474221673e-05", "330", "925"),
        "ppi": ("0.0014386686616183625", "0.3085607444207686", "3.2571631135664696e-06", "210", "870"),
        "yelp": ("0.00005", "0.05", "4.452466189193362e-07", "90", "320"),
    }
    text = (CONF / "tuned" / f"{name}_sign.yaml").read_text()
    for number in digits[name]:
        assert re.search(rf": {re.escape(number)}\b", text), number


def test_file_is_plain_yaml() -> None:
    assert set(yaml.safe_load(FILE.read_text())) == set(published_tables())
