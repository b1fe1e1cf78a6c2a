"""Pages of the settings: one per section of the configuration."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from reference.conf_files import ConfFile, group, read
from reference.hints import allowed, hints_of
from sign.config.identity import flatten
from sign.diffusion.labels import LabelFolds
from sign.search.settings import SearchSettings
from sign.store.store import Store
from sign.training.settings import Device, JobType, Scaling, Training
from sign.validation import Count, Power, Range, Seed

RUN = {
    "seed": Seed,
    "runs": Count,
    "ckpt_path": str | None,
    "job_type": JobType,
    "group": str | None,
    "trial": Annotated[int | None, Range(0)],
}
SECTIONS = {
    "training": hints_of(Training) | {"threshold": Literal[0.5, "validation"]},
    "scaling": hints_of(Scaling),
    "store": hints_of(Store),
    "search": hints_of(SearchSettings) | {"devices": list[int] | None},
}
LABELS = {f"labels.{name}": hint for name, hint in hints_of(LabelFolds).items()}
POSITIONS = {"positions": Annotated[int, Range(0, 1000)]}
HOPS = {"branches": Literal["all", "last"], **dict.fromkeys("pstdfl", Power), **POSITIONS, **LABELS}
NAMES = {"name": str, "title": str | None}
PATHS = dict.fromkeys(("data_dir", "store_dir", "output_dir"), str)
GROUPS = {
    "dataset": "The graph whose nodes are classified.",
    "hops": "Operators and their powers, which every model but the baselines has: `hops@model=default`.",
    "model": "The network on rows of hops, with the [operators and their powers](hops.md); or a system that the paper "
    "compares with.",
    "operator": "Linear maps B. A model names one for each letter, and a choice replaces it: "
    "`operator@model.operators.p=laplacian`. The settings are those of `model.operators.<letter>`.",
    "engine": "Where the products B · X run.",
    "smoothing": "What is done with predictions after training; of several values, the best on validation nodes are "
    "used.",
    "trainer": "Devices, precision and number of processes.",
    "logger": "The tracker, in addition to `metrics.csv`.",
    "paths": "Folders, relative to the working directory.",
}


def pages() -> dict[str, str]:
    """Return a page for the run, one for each group of ``conf/``, and one for experiments and searches."""
    groups = {f"{name}.md": group_page(name, description) for name, description in GROUPS.items()}
    return {"run.md": run_page(), **groups, "experiments.md": experiments_page()}


def run_page() -> str:
    """The settings of ``conf/train.yaml`` itself."""
    train = read("train")
    lines = ["# Runs, training and search", "", "Settings of `conf/train.yaml`.", "", "## The run", ""]
    lines += table("", {name: train.settings[name] for name in RUN}, RUN, train.comments)
    for section, hints in SECTIONS.items():
        lines += ["", f"## `{section}`", ""]
        if comment := train.comments.get(section):
            lines += [f"{comment[0].upper()}{comment[1:]}.", ""]
        lines += table(f"{section}.", train.settings[section], hints, train.comments)
    return "\n".join([*lines, ""])


def group_page(name: str, description: str) -> str:
    """The choices of a group, each with its settings."""
    lines = [f"# `{name}`", "", description]
    choices = group(name)
    if len(choices) > 1:
        lines += ["", f"| `{name}=` | |", "| --- | --- |"]
        lines += [f"| [`{choice.name}`](#{choice.name.lower()}) | {escape(choice.description)} |" for choice in choices]
    prefix = {"operator": "", "hops": "model."}.get(name, f"{name}.")
    for choice in choices:
        lines += ["", f"## `{choice.name}`", "", *_choice(name, prefix, choice)]
    return "\n".join([*lines, ""])


def _choice(name: str, prefix: str, choice: ConfFile) -> list[str]:
    description = f"{choice.description[0].upper()}{choice.description[1:]}."
    lines = [description.replace("..", ".")]
    if choice.target:
        lines += ["", f"Class: `{choice.target}`."]
    if choice.base:
        lines += ["", f"As [`{choice.base}`](#{choice.base}), except:"]
    if choice.settings:
        lines += ["", *table(prefix, choice.settings, group_hints(name, choice), choice.comments)]
    return lines


def group_hints(name: str, choice: ConfFile) -> Mapping[str, Any]:
    """Return the annotations of the settings of a choice."""
    if choice.target:
        null = {"name": str | None} if choice.settings.get("name", "") is None else {}  # the class finds a name itself
        return (HOPS | NAMES if name == "model" else {}) | hints_of(choice.target) | null
    if choice.base and name == "model":
        return group_hints(name, read(f"{name}/{choice.base}"))
    return {"hops": HOPS, "trainer": hints_of(Device), "paths": PATHS}[name]


def experiments_page() -> str:
    """The experiments and the search spaces, with what their files say about them."""
    lines = ["# Experiments and searches", "", "## `experiment`", ""]
    lines += [
        "Settings of a cell of a table, applied after the tuned ones.",
        "",
        "| `experiment=` | |",
        "| --- | --- |",
    ]
    lines += [f"| `{choice.name}` | {escape(choice.description)} |" for choice in group("experiment")]
    lines += ["", "## `debug`", "", "Short runs that try a configuration; they are written to `outputs/debug`.", ""]
    lines += ["| `debug=` | |", "| --- | --- |"]
    lines += [f"| `{choice.name}` | {escape(choice.description)} |" for choice in group("debug")]
    lines += ["", "## `hparams_search`", "", "Search spaces; they need `-m`."]
    for choice in group("hparams_search"):
        lines += ["", f"### `{choice.name}`", "", choice.description, "", "| setting | values |", "| --- | --- |"]
        lines += [f"| `{name}` | `{value}` |" for name, value in choice.space.items()]
    return "\n".join([*lines, ""])


def table(prefix: str, values: Mapping[str, Any], hints: Mapping[str, Any], comments: Mapping[str, str]) -> list[str]:
    """Return one row per setting: name, default, allowed values, meaning."""
    rows = []
    for name, value in flatten(values).items():
        meaning = comments.get(f"{prefix}{name}", comments.get(name, ""))
        values_of = allowed(hints[name])
        repeated = re.split(r", | or ", meaning) == values_of.removesuffix(", or null").replace("`", "").split(", ")
        rows.append((f"`{prefix}{name}`", default(value), values_of, "" if repeated else meaning))
    return markdown_table(("setting", "default", "values", "meaning"), rows)


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table."""
    header = tuple(header)
    lines = [header, ("---",) * len(header), *(tuple(map(escape, row)) for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def default(value: Any) -> str:
    """Return a value as the command line writes it.

    >>> default(None), default(True), default([25, 10]), default("???")
    ('`null`', '`true`', '`[25,10]`', 'required')
    """
    if value == "???":
        return "required"
    if isinstance(value, list):
        return f"`[{','.join(map(str, value))}]`"
    spelled = {None: "null", True: "true", False: "false"}
    return f"`{spelled[value] if value is None or isinstance(value, bool) else value}`"


def escape(text: str) -> str:
    """Return text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")
