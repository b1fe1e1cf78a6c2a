"""Dataclasses that validate themselves, before anything slow is imported.

A section of the configuration is a frozen dataclass whose annotations say what is allowed: a wrong value is
reported in one line, in a fraction of a second.
"""

import math
import re
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sign.errors import FieldError


@dataclass(frozen=True)
class Range:
    """Bounds of a number: ``low`` and ``high`` are included, ``below`` is not."""

    low: float
    high: float = math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high and value < self.below

    def __str__(self) -> str:
        if self.below < math.inf:
            return f">= {self.low:g} and < {self.below:g}"
        return f">= {self.low:g}" if self.high == math.inf else f">= {self.low:g} and <= {self.high:.10g}"


LARGEST = 10**12  # integer: products of larger sizes would overflow 64 bits
MAX_POWER = 1000  # each power is an array as large as the features; the paper has 8
Power = Annotated[int, Range(0, MAX_POWER)]
Count = Annotated[int, Range(1)]
Seed = Annotated[int, Range(0, 2**32 - 1)]  # what numpy and torch both take
Probability = Annotated[float, Range(0, below=1)]


def check(name: str, value: Any, hint: Any) -> None:
    """Raise a :class:`FieldError` unless ``value`` is what the annotation ``hint`` allows.

    >>> check("dropout", 1, Probability)
    Traceback (most recent call last):
    ...
    sign.errors.FieldError: dropout=1: must be a number >= 0 and < 1
    """
    bounds: Range | None = None
    if get_origin(hint) is Annotated:
        hint, bounds = get_args(hint)
    if type(None) in get_args(hint):
        if value is None:
            return
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise FieldError(name, value, f"choose one of {', '.join(map(str, get_args(hint)))}")
    elif hint is bool:
        if not isinstance(value, bool):
            raise FieldError(name, value, "must be true or false")
    elif hint in (int, float):
        kind, types = ("an integer", (int,)) if hint is int else ("a number", (int, float))
        is_number = isinstance(value, types) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or (bounds is not None and value not in bounds):
            raise FieldError(name, value, f"must be {kind}" + (f" {bounds}" if bounds else ""))
        if hint is int and abs(value) > LARGEST:
            raise FieldError(name, value, f"must be at most {LARGEST:,}")
    elif get_origin(hint) is list:
        if not isinstance(value, list):
            raise FieldError(name, value, "must be a list, such as [a,b]")
        for item in value:
            check(name, item, *get_args(hint))
    elif hint is str and not (isinstance(value, str) and value):
        raise FieldError(name, value, "must be a non-empty string")


def check_name(value: Any, field: str = "name") -> None:
    """Raise a :class:`FieldError` unless a name is safe as a part of a path."""
    check(field, value, str)
    if not re.fullmatch(r"[\w-][\w.-]{0,99}", value):
        raise FieldError(field, value, "is used as a folder name: use up to 100 letters, digits, dots and hyphens")


class Validated:
    """A dataclass whose fields are checked against their annotations when an instance is created."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for field in fields(self):  # type: ignore[arg-type]
            check(field.name, getattr(self, field.name), hints[field.name])
