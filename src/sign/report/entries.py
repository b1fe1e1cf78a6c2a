"""Entries of a JSON object that others may have written, checked as they are read."""

import math
from dataclasses import dataclass
from typing import Any, TypeGuard

from sign.errors import SignError

MAX_TEXT = 500  # characters: names are shorter, and longer ones would fill the page


@dataclass(frozen=True)
class Entries:
    """The entries of an object. ``where`` names it in messages. A missing entry and null are the same."""

    where: str
    values: Any

    def __post_init__(self) -> None:
        if not isinstance(self.values, dict):
            raise SignError(f"{self.where}: {_brief(self.values)}: must be an object")

    def text(self, key: str) -> str:
        """A text, empty if it is missing."""
        value = self.values.get(key)
        return "" if value is None else self._checked(key, isinstance(value, str), "a string")

    def name(self, key: str) -> str:
        """A text that must not be missing or empty."""
        value = self.values.get(key)
        return str(self._checked(key, isinstance(value, str) and value != "", "a non-empty string"))

    def number(self, key: str) -> float | None:
        """A finite number; None if it is missing, or not finite."""
        value = self.values.get(key)
        if value is None:
            return None
        self._checked(key, is_number(value), "a number")
        return value if math.isfinite(value) else None

    def integer(self, key: str) -> int | None:
        """An integer; None if it is missing."""
        value = self.values.get(key)
        return None if value is None else self._checked(key, is_number(value) and isinstance(value, int), "an integer")

    def objects(self, key: str) -> list["Entries"]:
        """A list of objects, empty if it is missing."""
        value = self.values.get(key)
        items = [] if value is None else self._checked(key, isinstance(value, list), "a list")
        return [Entries(f"{self.where}: {key}", item) for item in items]

    def numbers(self, key: str | None = None) -> dict[str, float]:
        """The finite numbers among the entries, or those of an inner object; other types are errors."""
        inner = self if key is None else Entries(f"{self.where}: {key}", self.values.get(key))
        found = {name: inner.number(name) for name in inner.values}
        return {name: value for name, value in found.items() if value is not None}

    def _checked(self, key: str, valid: bool, kind: str) -> Any:
        value = self.values.get(key)
        if not valid:
            raise SignError(f"{self.where}: {key}={_brief(value)}: must be {kind}")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise SignError(f"{self.where}: {key} has more than {MAX_TEXT} characters")
        return value


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is an integer or a float; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
