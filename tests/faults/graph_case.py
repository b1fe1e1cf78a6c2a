"""A graph to read, and what must happen."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Must = Literal["load", "refuse", "either"]
EXECUTED = "executed"  # the folder that hostile code would create


@dataclass(frozen=True)
class Case:
    """A graph to read, and whether it must be loaded rightly, be refused, or either of them."""

    kind: str
    name: str
    write: Callable[[Path], Path]
    must: Must = "either"


def replaced(write: Callable[[Path], Path], **files: Any) -> Callable[[Path], Path]:
    """Write a layout, then replace files: text, bytes, an array, or a function of the path; ``_`` stands for a dot."""

    def case(folder: Path) -> Path:
        path = write(folder)
        for name, content in files.items():
            file = folder / name.replace("_", ".")
            file.unlink(missing_ok=True)
            if callable(content):
                content(file)
            elif isinstance(content, np.ndarray):
                np.save(file, content, allow_pickle=True)
            elif content is not None:
                file.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return case


class Hostile:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return (os.mkdir, (EXECUTED,))
