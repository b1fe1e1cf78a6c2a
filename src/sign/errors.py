"""Errors that a user can fix: the message says what is wrong, which value, and what to do."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

NEAR = 0.6  # similarity from which a choice is suggested


class SignError(Exception):
    """An error whose message is one line for the user; the commands print it and exit with this code."""

    exit_code = 1


def reason(error: BaseException) -> str:
    """Return the message of an error without its number; errors of urllib wrap another one."""
    cause = getattr(error, "reason", error)
    return getattr(cause, "strerror", None) or str(cause) or type(error).__name__


class FieldError(SignError):
    """A setting with a value that is not allowed."""

    def __init__(self, field: str, value: Any, rule: str) -> None:
        super().__init__(f"{field}={value}: {rule}")
        self.field, self.value, self.rule = field, value, rule

    def within(self, section: str) -> "FieldError":
        """Return the same error with the full name of the setting, which the section itself does not know."""
        return FieldError(f"{section}.{self.field}", self.value, self.rule)


class SharedError(SignError):
    """An error that all ranks raise at the same point of the program."""


class MissingData(SignError):
    """Files that an experiment needs, such as those of its data set, are absent and cannot be downloaded."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return a question that names the choices nearest to a misspelt one, or nothing if none is near.

    The last parts of dotted names have to be near themselves: that another section is near does not help.

    >>> did_you_mean("training.dropuot", ["model.dropout", "model.p", "training.patience"])
    'did you mean model.dropout?'
    >>> did_you_mean("dataset.pth", ["dataset.name", "dataset.split_seed"])
    ''
    """
    scores = {choice: _similarity(name, choice) for choice in choices}
    cutoff = max(NEAR, max(scores.values(), default=0.0) - 0.15)
    near = sorted((choice for choice in scores if scores[choice] >= cutoff), key=lambda choice: -scores[choice])
    return f"did you mean {', '.join(near[:3])}?" if near else ""


def _similarity(name: str, choice: str) -> float:
    (section, _, last), (_, _, choice_last) = name.rpartition("."), choice.rpartition(".")
    end = SequenceMatcher(None, last.lower(), choice_last.lower()).ratio()
    if section and end < NEAR:
        return end
    return max(end, SequenceMatcher(None, name.lower(), choice.lower()).ratio())
