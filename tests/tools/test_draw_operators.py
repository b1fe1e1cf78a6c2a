"""The picture of the operators is that of the operators."""

import draw_operators
import pytest
from common.paths import REPOSITORY


def test_every_operator_is_drawn_or_there_is_a_reason() -> None:
    operators = [file.stem for file in (REPOSITORY / "conf" / "operator").glob("*.yaml")]
    assert sorted([*draw_operators.TITLES, *draw_operators.NOT_DRAWN]) == sorted(operators)


def test_the_picture_of_the_documentation_is_up_to_date() -> None:
    assert draw_operators.FILE.read_text() == draw_operators.picture(), "run: python tools/draw_operators.py"


def test_weights_are_those_of_the_chosen_node() -> None:
    triangles = draw_operators.weights_of("triangle")
    # two triangles with each other node of the clique, one with each of the triangle
    assert triangles == pytest.approx([0.25, 0.25, 0, 0.25, 0.125, 0.125, 0, 0, 0])
