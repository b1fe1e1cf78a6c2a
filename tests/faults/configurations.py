"""Configurations: each composes rightly and runs, or is refused with one message; nothing is written elsewhere."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from faults.campaign import Campaign, Try
from faults.configuration_cases import EXECUTED, UNUSED, VALUES, Case, cases
from faults.processes import SMALL, Outcome, command, paths

BASE = ("dataset=communities", *SMALL, "logger=csv", "trainer=cpu", "model.p=1", "training.max_epochs=2")
BASE += ("model.inception_units=8", "model.classification_units=8", "search.trials=1", "search.slots=1")
SECONDS = 60.0
MEMORY = 4 * 2**30  # bytes
GIVEN = ("data", "store", "output", "report", "tmp", "home/.config", "home/.cache")


def run(folder: Path, tries: int, seed: int) -> Iterator[Try]:
    """Try the configurations that are listed, and hostile values of every setting up to the number of tries."""
    draw = random.Random(seed)
    listed = list(cases())
    chosen = listed if tries >= len(listed) else draw.sample(listed, tries)
    settings = default_settings()
    pairs = [(name, value) for name in settings for value in VALUES]
    for name, value in draw.sample(pairs, min(len(pairs), tries - len(chosen))):
        chosen.append(Case("values", (f"{name}={value}",)))
    for number, case in enumerate(chosen):
        box = folder / str(number)
        yield Try(case.kind, f"{case.program} {' '.join(case.arguments)[:80]!r}", problem(case, box, settings))
        shutil.rmtree(box)


def default_settings() -> dict[str, Any]:
    """Return every setting of the base configuration, with its value."""
    from omegaconf import OmegaConf

    from sign.config.configure import compose
    from sign.config.identity import flatten

    plain: Any = OmegaConf.to_container(compose(*BASE))
    return {name: value for name, value in flatten(plain).items() if not name.startswith(UNUSED)}


def problem(case: Case, box: Path, settings: dict[str, Any]) -> str | None:
    """Run a configuration in a sandbox, deep enough that ``../..`` stays in it; say what is wrong."""
    place = box / "one" / "two" / "three"
    for name in ("home", "tmp", "data", "store", "output"):
        (place / name).mkdir(parents=True)
    arguments = [argument.replace("{box}", str(box)) for argument in case.arguments]
    base = [override for override in BASE if not _same_group(override, arguments)]
    base = [*(base if case.program != "report" else []), *_without(paths(place), arguments)]
    environment = {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "WANDB_MODE": "offline"}
    outcome = command(place, case.program, *base, *arguments, timeout=SECONDS, memory=MEMORY, environment=environment)
    expected = {"run": True, "refuse": False, "either": None}[case.must]
    if found := outcome.problem(expected) or written_elsewhere(box, place):
        return found
    if outcome.code == 0 and case.kind == "values":
        return wrong_value(case.arguments[0], place, settings)
    return control_characters(outcome)


def _same_group(override: str, arguments: list[str]) -> bool:
    """Whether an argument chooses another file of the group that an override of the base belongs to."""
    group = override.partition("=")[0]
    return any(argument.lstrip("+~").partition("=")[0] in (group, group.partition(".")[0]) for argument in arguments)


def _without(overrides: list[str], arguments: list[str]) -> list[str]:
    names = {argument.partition("=")[0] for argument in arguments}
    return [override for override in overrides if override.partition("=")[0] not in names]


def written_elsewhere(box: Path, place: Path) -> str | None:
    """Name a file that a command wrote outside of the folders that it was given, or code that it ran."""
    given = [place / name for name in GIVEN]
    output = [Path(f"{place}.{name}") for name in ("stdout.txt", "stderr.txt")]
    for file in box.rglob("*"):
        if file.name == EXECUTED:
            return "ran hostile code"
        inside = any(file.is_relative_to(folder) for folder in given)
        if file.is_file() and not inside and file not in output:
            return f"wrote {file.relative_to(box)}"
    return None


def control_characters(outcome: Outcome) -> str | None:
    """Say whether a command printed control characters, which a terminal would obey."""
    harmful = [character for character in outcome.stdout if not character.isprintable() and character not in "\n\t"]
    return f"printed {harmful[0]!r}" if harmful else None


def wrong_value(argument: str, place: Path, settings: dict[str, Any]) -> str | None:
    """Say whether an accepted value is not the one in the run folder, or of another type than the default."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    name, value = argument.partition("=")[0], OverridesParser.create().parse_override(argument).value()
    files = sorted((place / "output").rglob("config.yaml"))
    if not files:
        return "no run folder"
    found: Any = yaml.safe_load(files[0].read_text())
    for part in name.split("."):
        found = found[part]
    if found != value:
        return f"the run has {found!r}"
    default = settings[name]
    numbers = (int, float) if isinstance(default, float) else (int,)
    kinds: tuple[type, ...] = numbers if isinstance(default, int | float) else (str,)
    if isinstance(default, bool):
        kinds = (bool,)
    optional = default is None
    valid = optional or (isinstance(found, kinds) and (isinstance(default, bool) or not isinstance(found, bool)))
    return None if valid else f"accepted {found!r}, the default is {default!r}"


CONFIGURATIONS = Campaign(
    "configurations",
    "Overrides of every kind: each runs with exactly the value that was given, or is refused with one message on "
    "standard error and exit code 1. No class outside of SIGN is called, no control character reaches the terminal, "
    "and nothing is written outside of the given folders.",
    450,
    run,
)
