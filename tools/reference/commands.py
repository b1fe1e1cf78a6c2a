"""The page of the commands: what each does, its examples and its own settings, as ``--help`` has them."""

import ast
import re
from typing import Any

from reference.conf_files import ConfFile, read
from reference.hints import hints_of
from reference.settings import table
from sign.commands.store import StoreRequest
from sign.prediction.settings import Evaluation, Export, Prediction
from sign.reproduction.request import Request
from sign.system.program import SCRIPTS

OF_A_RUN = ("precompute", "train")
HINTS: dict[str, dict[str, Any]] = {
    "eval": hints_of(Evaluation),
    "export": hints_of(Export),
    "predict": hints_of(Prediction),
    "report": {"folders": list[str], "output": str},
    "reproduce": {**hints_of(Request), "datasets": list[str] | None, "settings": dict},
    "store": hints_of(StoreRequest),
}
INTRODUCTION = """# Commands

Every command is a Hydra application: settings are overrides `name=value`, and `--help` prints this text with the values
of the command line. In a checkout a command is `python src/<command>.py`, with the installed package `sign <command>`.
Exit codes: 0 for success, 1 for an error (one message on standard error), 130 after Ctrl-C.
"""


def page() -> str:
    """Return the page."""
    names = sorted(file.stem for file in SCRIPTS.glob("*.py"))
    return "\n".join([INTRODUCTION, *(section(name) for name in names)])


def section(name: str) -> str:
    """One command."""
    summary, _, _ = str(ast.get_docstring(ast.parse((SCRIPTS / f"{name}.py").read_text()))).partition(": ``")
    lines = [f"## `{name}`", "", f"{summary}.", "", "```bash", *examples(name), "```", ""]
    if name in OF_A_RUN:
        return "\n".join([*lines, "Settings: [runs, training and search](run.md), and the pages of the groups.", ""])
    conf = read(name)
    if conf.settings:
        lines += [*table("", conf.settings, HINTS[name], conf.comments), ""]
    if "train" in conf.values["defaults"]:
        lines += ["It also takes all settings of `train`.", ""]
    else:
        lines += [f"It also takes settings of {', '.join(f'[`{group}`]({group}.md)' for group in groups(conf))}.", ""]
    return "\n".join(lines)


def groups(conf: ConfFile) -> list[str]:
    """Return the groups that a command composes."""
    names = [
        key.removeprefix("optional ") for entry in conf.values["defaults"] if isinstance(entry, dict) for key in entry
    ]
    return [name for name in names if not name.startswith("override ")]


def examples(name: str) -> list[str]:
    """Return the examples of ``--help`` as lines of a shell, each with its comment."""
    text = read("hydra/help/sign" if name in OF_A_RUN else f"hydra/help/{name}")
    block = text.values["template"].split("Examples\n")[1].split("\n\n")[0]
    lines = []
    for line in re.sub(r"\$\{command:(\w+)\}", r"python src/\1.py", block).splitlines():
        if name in OF_A_RUN and f"src/{name}.py" not in line:  # they share one help text
            continue
        command, _, comment = line.strip().partition("  ")
        lines.append(f"{command}  # {comment.strip()}" if comment.strip() else command)
    return lines
