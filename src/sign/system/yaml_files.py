"""YAML files that others may have written, such as those of a run folder, read within limits."""

from pathlib import Path
from typing import Any

import yaml

from sign.errors import SignError
from sign.system.text_files import read_text

MAX_BYTES = 2**18  # a run's configuration has about 3,000
MAX_DEPTH = 32
MAX_PLAIN = 2048  # characters without quotes, which may be a number: longer ones take seconds to parse or print
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is many times as fast


def read_yaml(file: Path) -> Any:
    """Return the content of a YAML file as plain values.

    Aliases, by which a short file can stand for an endless or recursive value, and tags are refused; SIGN writes
    neither.

    Raises
    ------
    SignError
        If the file cannot be read, is not YAML, or is larger or more deeply nested than any that SIGN writes.
    """
    text = read_text(file, MAX_BYTES)
    try:
        if problem := _problem(text):
            raise SignError(f"{file}: {problem}; is it a file of SIGN?")
        return yaml.load(text, Loader)
    except (ValueError, yaml.YAMLError) as error:
        raise SignError(f"{file}: cannot be read as YAML ({type(error).__name__})") from error


def _problem(text: str) -> str | None:
    """What makes a document unsafe to build, found without building it."""
    depth = 0
    for event in yaml.parse(text, Loader):
        if isinstance(event, yaml.AliasEvent):
            return f"has the alias *{event.anchor}"
        if getattr(event, "tag", None):
            return f"has the tag {event.tag}"
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and len(event.value) > MAX_PLAIN:
            return f"has a value of more than {MAX_PLAIN} characters"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} levels deep"
    return None
