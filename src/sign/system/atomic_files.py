"""Atomic file writes and unique folders."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def create_unique_folder(parent: Path, name: str) -> Path:
    """Create a folder that no other process uses; ``-1``, ``-2``, … is appended to a name that exists."""
    attempt = 0
    while True:
        folder = parent / (f"{name}-{attempt}" if attempt else name)
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            attempt += 1


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object atomically."""
    write_text(file, json.dumps(content, indent=2) + "\n")


def write_text(file: Path, text: str) -> None:
    """Write a text file atomically: readers see the previous content or the new one."""
    write_bytes(file, text.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """Write a file atomically: readers see the previous content or the new one."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(file)
