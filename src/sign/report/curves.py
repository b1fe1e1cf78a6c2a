"""Metrics of each epoch, thinned out so that a page of a thousand runs stays small."""

from collections.abc import Sequence
from typing import Any

from sign.report.records import Record

NUMBERS = 400_000  # of all curves of a page together: about 3 MB
FEWEST, MOST = 24, 250  # points of a curve
DIGITS = 5


def curve(record: Record, points: int = MOST) -> dict[str, Any]:
    """Epochs, the seconds at the end of each (precomputation and training so far), and every metric.

    At most ``points`` epochs are kept: first and last, the best on the validation split, and evenly between.
    """
    kept = _kept(record, points)
    start = _precomputation(record)
    seconds, total = [], start
    for row in record.epochs:
        total += row.get("seconds/epoch", 0.0)
        seconds.append(total)
    names = [name for name in (record.epochs or [{}])[0] if name != "epoch"]
    return {
        "of": len(record.epochs),
        "start": _short(start),
        "epoch": [int(record.epochs[index].get("epoch", index)) for index in kept],
        "seconds": [_short(seconds[index]) for index in kept],
        "metrics": {
            name: [_short(record.epochs[index].get(name)) for index in kept] for name in sorted(names)
        },
    }


def curves(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The curves of all runs, thinned out together."""
    metrics = max((len(record.epochs[0]) for record in records if record.epochs), default=1)
    points = NUMBERS // max(len(records) * (metrics + 1), 1)
    return [curve(record, min(max(points, FEWEST), MOST)) for record in records]


def _precomputation(record: Record) -> float:
    """Seconds before the first epoch; those of its hops while a run is not finished."""
    took = [hop.get("seconds") for hop in record.hops]
    known = sum(value for value in took if isinstance(value, int | float))
    return (record.metrics or {}).get("seconds/precompute", known)


def _kept(record: Record, points: int) -> list[int]:
    count = len(record.epochs)
    if count <= points:
        return list(range(count))
    even = {round(index * (count - 1) / (points - 2)) for index in range(points - 1)}
    name = f"val/{record.metric}"
    best = max(range(count), key=lambda index: record.epochs[index].get(name, float("-inf")))
    return sorted(even | {best})


def _short(value: float | None) -> float | None:
    """Digits that a curve can show."""
    return None if value is None else float(f"{value:.{DIGITS}g}")
