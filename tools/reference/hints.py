"""Annotations of settings as text: the type, and the values that are allowed."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hydra.utils import get_class

PLAIN = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    dict: "mapping",
    Mapping: "mapping",
    Any: "any",
}


def allowed(hint: Any) -> str:
    """Return what an annotation allows.

    >>> from sign.validation import Count, Probability, Range
    >>> allowed(Count), allowed(Probability), allowed(Literal["a", "b"])
    ('integer ≥ 1', 'number ≥ 0 and < 1', '`a`, `b`')
    >>> allowed(Annotated[int | None, Range(1)]), allowed(list[str])
    ('integer ≥ 1, or null', 'list: text')
    """
    if get_origin(hint) is Annotated:
        hint, bounds = get_args(hint)
        kinds = [kind for kind in _kinds(hint) if kind is not type(None)]
        text = " or ".join(f"{allowed(kind)} {bounds}".replace(">=", "≥").replace("<=", "≤") for kind in kinds)
        return f"{text}, or null" if len(kinds) < len(_kinds(hint)) else text
    if type(None) in _kinds(hint):
        return ", ".join(allowed(kind) for kind in _kinds(hint) if kind is not type(None)) + ", or null"
    if len(_kinds(hint)) > 1:
        return " or ".join(map(allowed, _kinds(hint)))
    if get_origin(hint) is Literal:
        return ", ".join(f"`{value}`" for value in _literals(hint))
    if get_origin(hint) is list:
        return f"list: {allowed(*get_args(hint))}"
    return PLAIN[get_origin(hint) or hint]


def hints_of(target: str | type) -> dict[str, Any]:
    """Return the annotations of a dataclass, by field."""
    return get_type_hints(get_class(target) if isinstance(target, str) else target, include_extras=True)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _literals(hint: Any) -> list[Any]:
    return [value for item in get_args(hint) for value in (_literals(item) if get_origin(item) is Literal else [item])]
