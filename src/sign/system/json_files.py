"""JSON files that others may have written, such as those of a run folder, read within limits."""

import json
import math
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.system.text_files import read_text

MAX_BYTES = 2**20  # the description of a run has about 5,000
MAX_DEPTH = 32
MAX_INTEGER = 2**63
MAX_NUMBER = 1e100  # of fractions: no measurement is larger, and the squares of larger ones overflow


def read_json(file: Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the content of a file that holds a JSON object.

    Raises
    ------
    SignError
        If the file cannot be read, holds anything else, or :func:`check_values` refuses its values.
    """
    text = read_text(file, max_bytes)
    try:
        content = json.loads(text, parse_float=_float)
    except RecursionError as error:
        raise SignError(f"{file}: is nested more than {MAX_DEPTH} levels deep; is it a file of SIGN?") from error
    except ValueError as error:
        raise SignError(f"{file}: cannot be read ({str(error).lower()}); is it a file of SIGN?") from error
    if not isinstance(content, dict):
        raise SignError(f"{file}: is not a JSON object; is it a file of SIGN?")
    check_values(file, content)
    return content


def check_values(file: Path, content: Any) -> None:
    """Raise :class:`SignError` for values that could not be shown, added or written again.

    These are deeply nested ones, numbers beyond 64 bits, and text with lone surrogates. NaN and infinity are allowed:
    training that diverged has such losses.
    """
    level = [content]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value
                below += value.values()
            elif isinstance(value, list):
                below += value
            elif problem := _problem(value):
                raise SignError(f"{file}: {problem}; is it a file of SIGN?")
        if not below:
            return
        level = below
    raise SignError(f"{file}: is nested more than {MAX_DEPTH} levels deep; is it a file of SIGN?")


def _problem(value: Any) -> str | None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"has a text with a lone surrogate ({value[:40]!a})"
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value < MAX_INTEGER:
            return "has a number of more than 64 bits"
    elif isinstance(value, float) and MAX_NUMBER < abs(value) < math.inf:
        return f"has a number beyond {MAX_NUMBER:g}"
    return None


def _float(text: str) -> float:
    """A number with a fraction or exponent; one that no float can hold would become infinity."""
    if math.isinf(value := float(text)):
        raise ValueError(f"the number {text[:20]}… is too large")
    return value
