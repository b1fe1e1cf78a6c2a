"""Files of ``conf/``: values by PyYAML, and the comments that explain them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sign.system.program import CONF

KEY = re.compile(r"(?P<indent> *)(?P<key>[\w.]+):(?: (?P<value>.*))?$")
HYDRA = ("defaults", "hydra")  # how a file is composed; no settings


@dataclass(frozen=True)
class ConfFile:
    """One file: what it says about itself, its values, and the comment of each setting by its dotted name."""

    name: str
    description: str
    values: dict[str, Any]
    comments: dict[str, str]

    @property
    def target(self) -> str | None:
        """The class that the file configures, if it names one."""
        return self.values.get("_target_")

    @property
    def base(self) -> str | None:
        """The file of the same group whose settings this one changes, if any."""
        entries = [entry for entry in self.values.get("defaults", []) if isinstance(entry, str)]
        return next((entry for entry in entries if entry != "_self_"), None)

    @property
    def settings(self) -> dict[str, Any]:
        """The values that a user may override."""
        return {key: value for key, value in self.values.items() if key not in (*HYDRA, "_target_")}

    @property
    def space(self) -> dict[str, Any]:
        """The search space, of a file of ``conf/hparams_search``."""
        found: dict[str, Any] = self.values.get("hydra", {}).get("sweeper", {}).get("params", {})
        return found


def read(path: str) -> ConfFile:
    """Read a file by its path in ``conf/``, without the ending."""
    text = (CONF / f"{path}.yaml").read_text()
    return ConfFile(Path(path).name, description_of(text), yaml.safe_load(text) or {}, comments_of(text))


def group(name: str) -> list[ConfFile]:
    """Return the choices of a group, by name."""
    return [read(f"{name}/{file.stem}") for file in sorted((CONF / name).glob("*.yaml"))]


def description_of(text: str) -> str:
    """Return the comment at the top of a file as one line.

    >>> description_of("# @package _global_\\n# a graph,\\n# drawn\\nname: x\\n")
    'a graph, drawn'
    """
    top = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if "@package" not in line:
            top.append(line.strip("# "))
    return " ".join(top)


def comments_of(text: str) -> dict[str, str]:
    """Return the comment beside each key, with its continuation on the next lines.

    >>> comments_of("a: 1  # one\\n      # more\\nb:  # section\\n  c: 2  # two\\n")
    {'a': 'one more', 'b': 'section', 'b.c': 'two'}
    """
    comments: dict[str, str] = {}
    parents: list[tuple[int, str]] = []
    name = ""
    for line in text.splitlines():
        code, mark, comment = [*re.split(r"((?:^|\s+)# ?)", line, maxsplit=1), "", ""][:3]
        if match := KEY.match(code.rstrip()):
            indent = len(match["indent"])
            while parents and parents[-1][0] >= indent:
                parents.pop()
            name = ".".join([*(key for _, key in parents), match["key"]])
            parents.append((indent, match["key"]))
            if mark:
                comments[name] = comment.strip()
        elif mark and not code.strip() and line.startswith(" ") and name in comments:
            comments[name] += f" {comment.strip()}"
        else:
            name = ""
    return comments
