"""The tables of the report as plain rows, for the page, Markdown and notebooks."""

from collections.abc import Iterable, Sequence
from typing import Any

from sign.report.columns import FURTHER_METRICS
from sign.report.groups import SEARCH, Group, differences, group_runs
from sign.report.reference import reference
from sign.report.run_records import FolderProblem, RunRecord
from sign.runs import HOP_COSTS, SCORES, natural_order

Row = dict[str, Any]
# Pairs of the paper's metric and ours; the accuracy of single-label data is their micro-F1.
SAME_METRICS = (("accuracy", "accuracy"), ("micro_f1", "micro_f1"), ("micro_f1", "accuracy"))
NOT_COMPARABLE = "generated data, not comparable"
BRIEF_EPOCHS, BRIEF_SHARE = 5, 0.1  # of the longest training on the data set


def comparison(records: Sequence[RunRecord]) -> list[Row]:
    """Ours beside the paper's: one row per group, with mean and standard deviation over seeds on the test split.

    Trials of a search are excluded: they select settings and are not results. Brief runs come last in a data set.
    """
    groups = _reported(records)
    longest: dict[str, float] = {}
    for group in groups:
        longest[group.dataset] = max(longest.get(group.dataset, 0), group.epochs)
    rows = [_comparison(group) | {"brief": _brief(group, longest[group.dataset])} for group in groups]
    return sorted(rows, key=lambda row: (natural_order(row["dataset"]), row["metric"], row["brief"]))


def _brief(group: Group, longest: float) -> bool:
    """Whether a group was trained for so few epochs that its result says little, though it could have gone on."""
    return not group.stopped_early and group.epochs < max(BRIEF_EPOCHS, longest * BRIEF_SHARE)


def _reported(records: Sequence[RunRecord]) -> list[Group]:
    return [group for group in group_runs(records) if group.job_type != SEARCH and group.finished]


def _comparison(group: Group) -> Row:
    metrics, runs = group.over_seeds(), len(group.finished)
    metric = group.finished[0].metric
    paper = reference(group)
    if paper and (paper.metric, metric) not in SAME_METRICS:
        paper = None
    test, val = metrics.get(f"test/{metric}", {}), metrics.get(f"val/{metric}", {})
    mean = test.get("mean")
    std = test.get("std") if runs > 1 else None  # one run has no deviation
    difference = mean - paper.mean if paper and paper.comparable and mean is not None else None
    spread = (std or 0.0) + ((paper.std or 0.0) if paper else 0.0)
    return _identity(group) | {
        "metric": SCORES[metric],
        "runs": runs,
        "mean": mean,
        "std": std,
        "values": test.get("values", []),
        "seeds": [record.seed for record in group.finished],
        "epochs": group.epochs,
        **_further(metrics, runs),
        "val_mean": val.get("mean"),
        "val_std": val.get("std") if runs > 1 else None,
        "paper": paper.mean if paper else None,
        "paper_std": paper.std if paper else None,
        "paper_digits": paper.digits if paper else None,
        "paper_remark": NOT_COMPARABLE if paper and not paper.comparable else None,
        "source": paper.source if paper else "",
        "difference": difference,
        "beyond": runs > 1 and difference is not None and abs(difference) > spread,
    }


def _further(metrics: dict[str, dict[str, Any]], runs: int) -> Row:
    row: Row = {}
    for name in FURTHER_METRICS:
        values = metrics.get(f"test/{name}", {})
        row |= {name: values.get("mean"), f"{name}_std": values.get("std") if runs > 1 else None}
    return row


def costs(records: Sequence[RunRecord]) -> list[Row]:
    """What a group costs: precomputation, training, inference, memory, and the hops that it trains on."""
    return [_cost(group) for group in _reported(records)]


def _cost(group: Group) -> Row:
    metrics, finished = group.over_seeds(), group.finished
    trained = [training_seconds(record) for record in finished if record.epochs]
    row = _identity(group) | {"runs": len(finished)}
    for name in ("precompute", "epoch", "inference"):
        seconds = metrics.get(f"seconds/{name}", {})
        row |= {name: seconds.get("mean"), f"{name}_std": seconds.get("std")}
    return row | {
        "epochs": metrics.get("epochs", {}).get("mean"),
        "training": sum(trained) / len(trained) if trained else None,
        "memory": max((record.metrics or {}).get("memory/peak_bytes", 0) for record in finished) or None,
        "parameters": (finished[0].metrics or {}).get("parameters"),
        "bytes": sum(hop.get("bytes") or 0 for hop in finished[0].hops) or None,
        **{name: _sum(getattr(record, name) for record in finished) for name in HOP_COSTS},
    }


def training_seconds(record: RunRecord) -> float:
    """Seconds of all epochs, without evaluation."""
    return sum(row.get("seconds/epoch", 0.0) for row in record.epochs)


def hops(records: Sequence[RunRecord]) -> list[Row]:
    """One row per stored array: its size, its cost, and how many runs computed it or found it in the store."""
    rows: dict[tuple[str, ...], Row] = {}
    for record in records:
        for hop in record.hops:
            name, operator, scope = (str(hop.get(key) or "") for key in ("name", "operator", "scope"))
            row = rows.setdefault(
                (record.dataset, name, operator, scope, str(hop.get("rows"))),
                {"dataset": record.dataset, "hop": name, "operator": operator, "scope": scope}
                | {"models": [], "computed": 0, "found": 0}
                | {key: hop.get(key) for key in ("rows", "columns", "bytes", "seconds", "products")},
            )
            row["found" if hop.get("found") else "computed"] += 1
            if not hop.get("found"):
                row |= {"seconds": hop.get("seconds"), "products": hop.get("products")}
            if record.model not in row["models"]:
                row["models"].append(record.model)
    return list(rows.values())


def runs(records: Sequence[RunRecord]) -> list[Row]:
    """One row per readable run, finished or not."""
    return [_run(record) for record in records]


def _run(record: RunRecord) -> Row:
    metrics = record.metrics or {}
    return _fields(record, "dataset", "model", "experiment", "job_type", "seed", "started", "folder") | {
        "state": "unfinished" if record.metrics is None else "finished",
        "metric": SCORES[record.metric],
        "test": metrics.get(f"test/{record.metric}"),
        "val": metrics.get(f"val/{record.metric}"),
        "train": metrics.get(f"train/{record.metric}"),
        "loss": metrics.get("val/loss"),
        "epochs": metrics.get("epochs", len(record.epochs)),
        "precompute": metrics.get("seconds/precompute"),
        "epoch": metrics.get("seconds/epoch"),
        "inference": metrics.get("seconds/inference"),
    }


def changes(records: Sequence[RunRecord]) -> list[Row]:
    """The settings that differ between runs, with the number of runs per value."""
    values = differences([record.flat_config for record in records])
    return [{"setting": name, "values": counts} for name, counts in values.items()]


def problems(found: Iterable[FolderProblem]) -> list[Row]:
    """Folders that are left out or shown in part, with the reason."""
    return [{"folder": problem.folder, "reason": problem.reason} for problem in found]


def _identity(group: Group) -> Row:
    return _fields(group, "dataset", "model", "experiment", "settings", "job_type", "label")


def _fields(item: Group | RunRecord, *names: str) -> Row:
    return {name: getattr(item, name) for name in names}


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
