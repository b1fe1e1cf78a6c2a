"""Kill diffusion, training, series and search at random moments; what is resumed ends with identical results."""

import json
import os
import random
import shutil
import signal
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import yaml

from faults.campaign import Campaign, Try
from faults.processes import SMALL, Outcome, command

STARTUP = 0.1  # seconds in which a command only reads its configuration
KILLS_IN_A_ROW = 4  # a search gives a trial up after five
MEASURED = ("seconds/", "memory/")  # metrics that differ between two runs
NETWORK = ("model.inception_units=256", "model.classification_units=256", "training.batch_size=64")
SEARCH = ("-m", "hparams_search=tpe", "search.trials=3", "search.runs=1", "search.slots=1")
LARGE = ("dataset.nodes=30000", "dataset.edges=120000", "dataset.features=64")


@dataclass(frozen=True)
class Place:
    """Where a command writes; ``base`` and ``temporary`` may be on different file systems."""

    base: Path
    temporary: Path

    def overrides(self) -> list[str]:
        """Return the paths as overrides."""
        return [f"paths.{kind}_dir={self.base / kind}" for kind in ("data", "store", "output")]


@dataclass(frozen=True)
class Work:
    """A command that can be killed and resumed, and what it computes."""

    name: str
    program: str
    overrides: tuple[str, ...]
    results: Callable[[Place], Any]

    def run(self, place: Place, kill_after: float | None = None) -> Outcome:
        """Start or resume the command."""
        place.temporary.mkdir(parents=True, exist_ok=True)
        arguments = [*self.overrides, "dataset=communities", "logger=csv", *place.overrides()]
        if self.name == "training" and (checkpoints := sorted(place.base.rglob("last.ckpt"))):
            arguments = [f"ckpt_path={checkpoints[-1]}"]
        environment = {"TMPDIR": str(place.temporary)}
        return command(place.base, self.program, *arguments, kill_after=kill_after, environment=environment)


def hop_checksums(place: Place) -> dict[str, str]:
    """Return the checksum of each stored hop."""
    return {
        f"{file.parent.name} {power}": hop["checksum"]
        for file in sorted(place.base.rglob("manifest.json"))
        for power, hop in json.loads(file.read_text())["hops"].items()
    }


def final_metrics(place: Place) -> list[dict[str, Any]]:
    """Return the metrics of each finished run, and of each of its epochs, apart from times and memory."""
    return [
        _unmeasured(json.loads(file.read_text())) | {"rows": _epochs(file.with_name("metrics.csv"))}
        for file in sorted(place.base.rglob("metrics.json"))
    ]


def series_table(place: Place) -> dict[str, Any]:
    """Return what a series says of its runs, and the metrics of the runs themselves."""
    (file,) = place.base.rglob("series.json")
    content = json.loads(file.read_text())
    return content | {"metrics": _unmeasured(content["metrics"]), "runs": final_metrics(place)}


def trials(place: Place) -> Any:
    """Return values and result of each trial of a search."""
    (file,) = place.base.rglob("study.json")
    content = json.loads(file.read_text())
    shown = [[trial[name] for name in ("number", "state", "params", "value")] for trial in content["trials"]]
    return shown, content["best"]["number"], content["importances"]


def _unmeasured(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if not name.startswith(MEASURED)}


def _epochs(file: Path) -> list[list[str]]:
    names, *rows = (line.split(",") for line in file.read_text().splitlines())
    kept = [index for index, name in enumerate(names) if not name.startswith(MEASURED)]
    return [[row[index] for index in kept] for row in rows]


WORKS = (
    Work("diffusion", "precompute", (*LARGE, "model.p=8", "model.s=1"), hop_checksums),
    Work("training", "train", (*SMALL, *NETWORK, "model.p=3", "training.max_epochs=12"), final_metrics),
    Work("series", "train", (*SMALL, *NETWORK, "model.p=2", "training.max_epochs=4", "runs=3"), series_table),
    Work("search", "train", (*SEARCH, *SMALL, "model.p=1", "training.max_epochs=4"), trials),
)


def run(folder: Path, tries: int, seed: int) -> Iterator[Try]:
    """Kill each work on one and on two file systems; the tries are distributed evenly."""
    from sign.training import callbacks

    draw = random.Random(seed)
    kinds = [(WORKS[index % 4], 1 + (index + index // 4) % 2) for index in range(8)]
    references: dict[str, tuple[float, Any]] = {}
    with mock.patch.object(callbacks, "SAVE_EVERY", 0.0), other_file_system(folder) as other:
        for index, (work, systems) in enumerate(kinds):
            kind = f"{work.name}, {'one file system' if systems == 1 else 'two file systems'}"
            kills = len(range(index, tries, len(kinds)))
            if not kills:
                continue
            if systems == 2 and other is None:
                yield Try(kind, "", skipped="there is one file system that can be written")
                continue
            if work.name not in references:
                references[work.name] = undisturbed(work, Place(folder / work.name, folder / "tmp"))
            base = folder if systems == 1 or other is None else other
            yield from kill(work, kind, base, folder / "tmp", kills, references[work.name], draw)


@contextmanager
def other_file_system(folder: Path) -> Iterator[Path | None]:
    """Create a folder on another file system than ``folder``, if there is one."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == folder.stat().st_dev:
        yield None
        return
    with tempfile.TemporaryDirectory(dir=memory) as other:
        yield Path(other)


def undisturbed(work: Work, place: Place) -> tuple[float, Any]:
    """Run a work to its end; return its seconds and its results."""
    outcome = work.run(place)
    if problem := outcome.problem(True):
        raise RuntimeError(f"{work.name}: {problem}")
    return outcome.seconds, work.results(place)


def kill(
    work: Work, kind: str, base: Path, temporary: Path, kills: int, reference: tuple[float, Any], draw: random.Random
) -> Iterator[Try]:
    """Kill a work, resume it to its end, and begin again, until there were enough kills."""
    seconds, expected = reference
    left = kills
    while left:
        place = Place(base / "killed", temporary)
        found: list[Try] = []
        while left and len(found) < KILLS_IN_A_ROW:
            moment = draw.uniform(STARTUP, seconds)
            outcome = work.run(place, kill_after=moment)
            if outcome.code == 0:  # it was faster
                break
            left -= 1
            problem = outcome.problem(True) if outcome.code != -signal.SIGKILL else half_written(place)
            found.append(Try(kind, f"SIGKILL after {moment:.3f} s", problem))
        if problem := resumed_problem(work, place, expected):
            found = [*found[:-1], Try(kind, f"resumed after {len(found)} kills", problem)]
        yield from found
        for used in (place.base, place.temporary):
            shutil.rmtree(used, ignore_errors=True)


def resumed_problem(work: Work, place: Place, expected: Any) -> str | None:
    """Resume a work to its end; say how it, or what it leaves, differs from an undisturbed run."""
    if problem := work.run(place).problem(True) or half_written(place):
        return problem
    if work.results(place) != expected:
        return f"the results differ from {expected}: {work.results(place)}"
    leftovers = [str(file) for file in place.temporary.rglob("*") if file.is_file()]
    return f"left in the temporary folder: {leftovers}" if leftovers else None


def half_written(place: Place) -> str | None:
    """Name a file that is damaged although it has its final name; hidden files are temporary."""
    readers: dict[str, Callable[[Path], object]] = {
        ".json": lambda file: json.loads(file.read_text()),
        ".yaml": lambda file: dict(yaml.safe_load(file.read_text())),
        ".ckpt": _read_checkpoint,
        ".npy": lambda file: np.load(file, mmap_mode="r"),
    }
    for file in sorted(place.base.rglob("*")):
        if file.is_file() and not file.name.startswith(".") and file.suffix in readers:
            try:
                readers[file.suffix](file)
            except Exception as error:
                return f"{file} is damaged: {type(error).__name__}: {error}"
    return None


def _read_checkpoint(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        if damaged := archive.testzip():
            raise ValueError(f"checksum of {damaged}")


KILLS = Campaign(
    "kills",
    "SIGKILL at a random moment, then the same command again (training: with `ckpt_path`): the results are identical "
    "to an undisturbed run, and no file is left half-written under its final name.",
    100,
    run,
)
