"""JSON files within limits."""

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sign.errors import SignError
from sign.system.json_files import MAX_DEPTH, read_json


def test_numbers_of_64_bits_and_losses_that_diverged_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": 9223372036854775807, "b": -9223372036854775808, "c": NaN, "d": Infinity, "e": 1e-320}')
    content = read_json(file)
    assert (content["a"], content["b"], content["d"]) == (2**63 - 1, -(2**63), math.inf)
    assert math.isnan(content["c"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "is not a JSON object"),
        ('{"a": 9223372036854775808}', "has a number of more than 64 bits"),
        ('{"a": 1e101}', "has a number beyond 1e\\+100"),
        ('{"a": 1e400}', "the number 1e400… is too large"),
        ('{"a": ["\\ud800"]}', "has a text with a lone surrogate"),
        ('{"\\ud800": 1}', "has a text with a lone surrogate"),
        ('{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "is nested more than 32 levels deep"),
        ('{"a": ' + "[" * 10**5, "is nested more than 32 levels deep"),
        (" " * 2**20 + "{}", "has more than 1,024 kB"),
    ],
)
def test_other_values_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(SignError, match=f"a.json: .*{reason}"):
        read_json(tmp_path / "a.json")


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=60) | st.text(alphabet='{}[]",:0123456789.eE-+\\udNaInfty ', max_size=60))
def test_any_content_is_read_or_refused_with_a_message(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with contextlib.suppress(SignError):
        assert isinstance(read_json(file), dict)
