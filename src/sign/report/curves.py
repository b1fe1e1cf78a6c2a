"""Metrics per epoch, thinned out so that a page of a thousand runs stays small."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from sign.report.run_records import RunRecord

MAX_NUMBERS = 400_000  # in all curves of a page: about 3 MB
MIN_POINTS, MAX_POINTS = 24, 250  # of one curve


def curve(record: RunRecord, points: int = MAX_POINTS) -> dict[str, Any]:
    """Epochs, elapsed seconds (precomputation and training) at the end of each, and every metric.

    At most ``points`` epochs are kept: the first, the last, the best on the validation split, and evenly spaced ones.
    """
    kept = _kept_epochs(record, points)
    hops = sum(hop.get("seconds") or 0.0 for hop in record.hops)
    start = (record.metrics or {}).get("seconds/precompute", hops)  # the sum over hops while a run is not finished
    seconds = list(accumulate((row.get("seconds/epoch", 0.0) for row in record.epochs), initial=start))[1:]
    names = {name for row in record.epochs[:1] for name in row} - {"epoch"}
    return {
        "of": len(record.epochs),
        "start": _rounded(start),
        "epoch": [int(record.epochs[index].get("epoch", index)) for index in kept],
        "seconds": [_rounded(seconds[index]) for index in kept],
        "metrics": {name: [_rounded(record.epochs[index].get(name)) for index in kept] for name in sorted(names)},
    }


def curves(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The curves of all runs, within a common limit on their size."""
    metrics = max((len(record.epochs[0]) for record in records if record.epochs), default=1)
    points = MAX_NUMBERS // max(len(records) * (metrics + 1), 1)
    return [curve(record, min(max(points, MIN_POINTS), MAX_POINTS)) for record in records]


def _kept_epochs(record: RunRecord, points: int) -> list[int]:
    count = len(record.epochs)
    if count <= points:
        return list(range(count))
    even = {round(index * (count - 1) / (points - 2)) for index in range(points - 1)}
    name = f"val/{record.metric}"
    best = max(range(count), key=lambda index: record.epochs[index].get(name, float("-inf")))
    return sorted(even | {best})


def _rounded(value: float | None) -> float | None:
    """Five digits: more are not visible in a plot."""
    return None if value is None else float(f"{value:.5g}")
