"""Settings are checked against their annotations."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.errors import FieldError
from sign.validation import Count, Power, Probability, Range, Seed, Validated, check


@pytest.mark.parametrize(
    ("value", "hint", "rule"),
    [
        (-1, Power, "must be an integer >= 0 and <= 1000"),
        (10**12 + 1, Count, "must be at most 1,000,000,000,000"),
        (0, Count, "must be an integer >= 1"),
        (1.0, Count, "must be an integer >= 1"),
        (True, Count, "must be an integer >= 1"),
        ("3", Count, "must be an integer >= 1"),
        (2**32, Seed, "must be an integer >= 0 and <= 4294967295"),
        (1, Probability, "must be a number >= 0 and < 1"),
        (float("nan"), float, "must be a number"),
        (float("inf"), Annotated[float, Range(0)], "must be a number >= 0"),
        (0.5, int, "must be an integer"),
        ("", str, "must be a non-empty string"),
        (None, str, "must be a non-empty string"),
        ("", str | None, "must be a non-empty string"),
        (1, bool, "must be true or false"),
        ("c", Literal["a", "b"], "choose one of a, b"),
        (-1, Annotated[int | None, Range(0)], "must be an integer >= 0"),
        ("a", list[str], "must be a list, such as [a,b]"),
    ],
)
def test_a_wrong_value_is_refused_with_the_rule(value: Any, hint: Any, rule: str) -> None:
    with pytest.raises(FieldError) as caught:
        check("name", value, hint)
    assert str(caught.value) == f"name={value}: {rule}"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        *((0, Power), (2**32 - 1, Seed), (0, Probability), (1, float), (None, str | None), ("a", Literal["a"])),
        *((False, bool), (None, Annotated[int | None, Range(0)]), (["a"], list[str]), ([], list[str])),
        ("anything", dict[str, int]),
    ],
)
def test_an_allowed_value_passes(value: Any, hint: Any) -> None:
    check("name", value, hint)


def test_each_item_of_a_list_is_checked() -> None:
    with pytest.raises(FieldError, match="name=1: must be a non-empty string"):
        check("name", ["a", 1], list[str])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_probability_is_at_least_zero_and_below_one(value: float) -> None:
    assert (value in Range(0, below=1)) == (0 <= value < 1)


@dataclass(frozen=True)
class Options(Validated):
    rate: Probability
    layers: Count = 1


def test_a_dataclass_checks_its_fields() -> None:
    assert Options(0.5).layers == 1
    with pytest.raises(FieldError, match=r"layers=0: must be an integer >= 1"):
        Options(0.5, layers=0)


def test_the_section_is_named_where_it_is_known() -> None:
    with pytest.raises(FieldError) as caught:
        Options(2)
    assert str(caught.value.within("model")) == "model.rate=2: must be a number >= 0 and < 1"
