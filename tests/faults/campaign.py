"""What a campaign is: tries, each with what went wrong, and how they are counted and shown."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Try:
    """One fault that was tried: its kind (a row of the table), enough to repeat it, and what went wrong, if any."""

    kind: str
    name: str
    problem: str | None = None
    skipped: str | None = None  # why it could not be tried here


@dataclass(frozen=True)
class Campaign:
    """A kind of fault, the claim about it, and the function that tries it: ``run(folder, tries, seed)``."""

    name: str
    claim: str
    tries: int
    run: Callable[[Path, int, int], Iterator[Try]]


@dataclass
class Counts:
    """Tries and failures of one kind."""

    tries: int = 0
    failures: int = 0
    skipped: list[str] = field(default_factory=list)


def count(tries: list[Try]) -> dict[str, Counts]:
    """Count tries and failures by kind."""
    kinds: dict[str, Counts] = {}
    for one in tries:
        counts = kinds.setdefault(one.kind, Counts())
        if one.skipped:
            counts.skipped.append(one.skipped)
        else:
            counts.tries += 1
            counts.failures += one.problem is not None
    return kinds


def table(tries: list[Try]) -> str:
    """Return tries and failures by kind as a Markdown table."""
    rows = ["| fault | tries | failures |", "| --- | ---: | ---: |"]
    for kind, counts in count(tries).items():
        note = f" (skipped: {counts.skipped[0]})" if counts.skipped else ""
        rows.append(f"| {kind}{note} | {counts.tries} | {counts.failures} |")
    return "\n".join(rows)


def summary(tries: list[Try]) -> str:
    """Return the number of tries and failures in one line."""
    counts = count(tries).values()
    skipped = sum(len(kind.skipped) for kind in counts)
    numbers = f"{sum(kind.tries for kind in counts)} tries, {sum(kind.failures for kind in counts)} failures"
    return numbers + (f", {skipped} skipped" if skipped else "")
