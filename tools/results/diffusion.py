"""The table and the figure of ``benchmarks/diffusion.py``, from the file that it writes."""

import json
import re
from dataclasses import dataclass
from typing import Any

from results.bars import Panel, picture
from results.data import DATA
from sign.system.memory import format_size

FILE = DATA / "diffusion.json"
NAMES = {"ours": "SIGN (ours)", "torch": "torch CSR", "scipy": "scipy", "graphblas": "graphblas", "pyg": "PyG"}


@dataclass(frozen=True)
class Row:
    """What one contender took on one graph; None for a task that it does not have."""

    graph: str
    entries: int
    features: int
    name: str
    memory: int
    product: float | None = None
    two_hops: float | None = None


def read() -> list[Row]:
    """Return the rows of the benchmark's file."""
    return [Row(**row) for row in json.loads(FILE.read_text())["results"]]


def markdown(rows: list[Row]) -> str:
    """Return a row per graph and contender; ratios are to ours on the same graph."""
    heads = ["entries", "", "product, s", "gathered", "×", "two hops, s", "×", "memory"]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for row in rows:
        (ours,) = (each for each in rows if (each.graph, each.name) == (row.graph, "ours"))
        shown = (f"{row.entries:,}", _gathered(row)) if row is ours else ("", "")
        cells = [shown[0], NAMES[row.name], _seconds(row.product, 3), shown[1]]
        cells += [_ratio(row.product, ours.product), _seconds(row.two_hops, 2), _ratio(row.two_hops, ours.two_hops)]
        lines.append(f"| {' | '.join([*cells, format_size(row.memory)])} |")
    lines = [re.sub(r"(?<=\d) (?=[MG]B)", "\N{NO-BREAK SPACE}", line) for line in lines]
    return "\n".join([*lines, "", "From `python benchmarks/diffusion.py`.", ""])


def figure(rows: list[Row]) -> str:
    """Return bars of the seconds on the largest graph."""
    most = max(row.entries for row in rows)
    largest = {NAMES[row.name]: row for row in rows if row.entries == most}
    tasks: dict[str, Any] = {"One product": "product", "Two hops from the edge list": "two_hops"}
    panels = [
        Panel(title, f"seconds, {most:,} entries", {name: getattr(row, task) for name, row in largest.items()})
        for title, task in tasks.items()
    ]
    return picture("Seconds of a product, and of two hops from the edge list, by library", panels, "SIGN")


def _seconds(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _ratio(value: float | None, ours: float | None) -> str:
    return "" if value is None or not ours or value == ours else f"{value / ours:.1f}"


def _gathered(row: Row) -> str:
    return "" if row.product is None else f"{row.entries * row.features * 4 / row.product / 1e9:.1f} GB/s"
