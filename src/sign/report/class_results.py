"""Metrics per class and the confusion matrix of the test split, one run per group."""

import math
from collections.abc import Sequence
from typing import Any

from sign.report.groups import SEARCH, Group, group_runs
from sign.report.run_records import RunRecord

MAX_GROUPS = 200


def class_results(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The run of each group with the best validation score, among those that recorded their classes."""
    groups = [group for group in group_runs(records) if group.job_type != SEARCH]
    best = [(group, record) for group in groups if (record := _best(group)) is not None]
    return [_classes(group, record) for group, record in best[:MAX_GROUPS]]


def _best(group: Group) -> RunRecord | None:
    recorded = [record for record in group.finished if record.per_class or record.confusion]
    return max(recorded, key=_validation_score, default=None)


def _validation_score(record: RunRecord) -> float:
    return (record.metrics or {}).get(f"val/{record.metric}", -math.inf)


def _classes(group: Group, record: RunRecord) -> dict[str, Any]:
    classes, counts = record.confusion or ([], [])
    return {
        "dataset": group.dataset,
        "model": group.model,
        "job_type": group.job_type,
        "label": group.label,
        "seed": record.seed,
        "rows": [{name: _finite(value) for name, value in row.items()} for row in record.per_class],
        "confusion": {"classes": classes, "counts": counts} if classes else None,
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
