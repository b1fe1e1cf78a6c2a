"""The operators that the package ships."""

from importlib import import_module
from inspect import isabstract
from pathlib import Path

from sign.operators.base import Operator


def shipped_operators() -> list[type[Operator]]:
    """Every concrete operator of ``sign.operators``, after importing all its modules."""
    kinds: dict[str, type[Operator]] = {}
    for file in sorted(Path(import_module("sign.operators").__file__).parent.glob("*.py")):
        for value in vars(import_module(f"sign.operators.{file.stem}")).values():
            if isinstance(value, type) and issubclass(value, Operator) and not isabstract(value):
                kinds[f"{value.__module__}.{value.__name__}"] = value
    return list(kinds.values())
