"""Columns become features: numbers as they are, text one-hot encoded, and others left out."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.custom.feature_columns import MAX_CATEGORIES, ColumnSettings
from sign.datasets.custom.tables import Table, read_table
from sign.errors import SignError

TEXT = "age,country,vip\n30,de,true\n,fr,false\n40,?,true\n50,at,false\n"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    (tmp_path / "nodes.csv").write_text(TEXT)
    return read_table(tmp_path / "nodes.csv")


def test_text_is_one_hot_encoded_and_a_missing_value_is_nan(table: Table) -> None:
    features, names = ColumnSettings(one_hot=["country", "vip"]).encode(table, list(table.columns), np.array([0, 1]))
    nan = np.nan
    expected = [[30, 0, 1, 0, 0, 1], [nan, 0, 0, 1, 1, 0], [40, nan, nan, nan, 0, 1], [50, 1, 0, 0, 1, 0]]
    np.testing.assert_array_equal(features, expected)
    assert names == ("age", "country=at", "country=de", "country=fr", "vip=false", "vip=true")


def test_categories_of_an_inductive_graph_are_those_of_its_training_nodes(table: Table) -> None:
    settings = ColumnSettings(one_hot=["country"], inductive=True)
    features, names = settings.encode(table, ["country"], np.array([0, 1]))
    assert names == ("country=de", "country=fr")
    np.testing.assert_array_equal(features, [[1, 0], [0, 1], [np.nan, np.nan], [0, 0]])


def test_text_that_is_not_encoded_is_refused_with_both_settings(table: Table) -> None:
    message = r"leave the column out with dataset.ignore=\[country\], or encode it with dataset.one_hot=\[country\]"
    with pytest.raises(SignError, match=f"column country: not every cell is a number .*; {message}"):
        ColumnSettings().encode(table, ["age", "country"], np.array([0]))


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id;x\na;1,5\n")
    with pytest.raises(SignError, match=r"column x: not every cell is a number .* in place of the decimal comma"):
        ColumnSettings().encode(read_table(tmp_path / "nodes.csv"), ["x"], np.array([0]))


def test_names_that_no_table_has_are_refused(table: Table) -> None:
    ColumnSettings(ignore=["age"], one_hot=["country"]).check(None, table)
    for settings in (ColumnSettings(ignore=["aeg"]), ColumnSettings(one_hot=["aeg"])):
        with pytest.raises(SignError, match="there is no column aeg; the columns are age, country, vip"):
            settings.check(None, table)
        with pytest.raises(SignError, match="there is no column aeg; the features have no named columns"):
            settings.check()


def test_a_column_of_ids_is_not_one_hot_encoded(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("\n".join(["x", *map(str, range(MAX_CATEGORIES + 1))]))
    with pytest.raises(SignError, match=r"column x has 1,001 different values; .* leave this one out"):
        ColumnSettings(one_hot=["x"]).encode(read_table(tmp_path / "nodes.csv"), ["x"], np.array([0]))
