"""Errors that a user can mend: what is wrong, which value, what to do."""

from typing import Any


class SignError(Exception):
    """One sentence for the user; the entry points print it and exit with 1."""


def reason(error: BaseException) -> str:
    """What an error says, without its number."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class FieldError(SignError):
    """A setting that is out of its range; the caller knows which section it belongs to."""

    def __init__(self, field: str, value: Any, rule: str) -> None:
        super().__init__(f"{field}={value}: {rule}")
        self.field, self.value, self.rule = field, value, rule

    def within(self, section: str) -> SignError:
        """The same error with the full name of the setting."""
        return FieldError(f"{section}.{self.field}", self.value, self.rule)


class SharedError(SignError):
    """An error that all processes of a training have at the same place."""


class MissingData(SignError):
    """Files of a data set that are not there and cannot be fetched."""
