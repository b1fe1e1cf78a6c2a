"""Files that are whole or as they were, and folders that nobody else has."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def create_unique_folder(parent: Path, name: str) -> Path:
    """A folder that nobody else has; numbered where the name is taken."""
    attempt = 0
    while True:
        folder = parent / (f"{name}-{attempt}" if attempt else name)
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            attempt += 1


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object that is whole or as it was."""
    write_text(file, json.dumps(content, indent=2) + "\n")


def write_text(file: Path, text: str) -> None:
    """Write a file that is whole or as it was."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)
