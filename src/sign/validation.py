"""Settings that check themselves, before anything slow is imported.

A section of the configuration is a frozen dataclass: its annotations say what is allowed, so that a
wrong value is answered in one sentence and in a fraction of a second.
"""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sign.errors import FieldError


@dataclass(frozen=True)
class Range:
    """Bounds of a number, both included unless ``below`` is given."""

    low: float
    high: float = float("inf")
    below: float = float("inf")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high and (value < self.below or self.below == float("inf"))

    def __str__(self) -> str:
        if self.below < float("inf"):
            return f"from {self.low:g} to below {self.below:g}"
        return f">= {self.low:g}" if self.high == float("inf") else f"from {self.low:g} to {self.high:.10g}"


Power = Annotated[int, Range(0)]
Count = Annotated[int, Range(1)]
Seed = Annotated[int, Range(0, 2**32 - 1)]  # what numpy and torch both take
Probability = Annotated[float, Range(0, below=1)]


def check(name: str, value: Any, hint: Any) -> None:
    """Raise a :class:`FieldError` unless ``value`` is what the annotation ``hint`` allows."""
    allowed: Any = None
    if get_origin(hint) is Annotated:
        hint, allowed = get_args(hint)
    if type(None) in get_args(hint):
        if value is None:
            return
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            choices = ", ".join(map(str, get_args(hint)))
            raise FieldError(name, value, f"choose one of {choices}")
    elif hint is bool:
        if not isinstance(value, bool):
            raise FieldError(name, value, "must be true or false")
    elif hint in (int, float):
        number = int if hint is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, number):
            kind = "a whole number" if hint is int else "a number"
            raise FieldError(name, value, f"must be {kind}" + (f" {allowed}" if allowed else ""))
        if not math.isfinite(value):
            raise FieldError(name, value, "must be finite")
        if allowed is not None and value not in allowed:
            raise FieldError(name, value, f"must be {allowed}")
    elif hint is str and not (isinstance(value, str) and value):
        raise FieldError(name, value, "must be a text that is not empty")


class Validated:
    """A dataclass whose fields are checked against their annotations when it is made."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for field in fields(self):  # type: ignore[arg-type]
            check(field.name, getattr(self, field.name), hints[field.name])
