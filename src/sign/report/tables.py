"""The tables of the report as plain rows: for the page, for Markdown, for trackers and notebooks."""

from collections.abc import Iterable, Sequence
from typing import Any

from sign.report.groups import SEARCH, Group, differences, group
from sign.report.records import Problem, Record
from sign.report.reference import reference

Row = dict[str, Any]


def comparison(records: Sequence[Record]) -> list[Row]:
    """Ours beside the paper's: a row a group, with mean and deviation on the test split over its seeds.

    Trials of a search are left out: they were made to choose settings, not to be reported.
    """
    return [_compared(one) for one in group(records) if one.job_type != SEARCH and one.finished]


def _compared(one: Group) -> Row:
    numbers = one.over_seeds()
    paper = reference(one)
    metric = paper.metric if paper and f"test/{paper.metric}" in numbers else one.metric
    ours = numbers.get(f"test/{metric}", {})
    val = numbers.get(f"val/{metric}", {})
    mean = ours.get("mean")
    difference = mean - paper.mean if paper and paper.comparable and mean is not None else None
    several = len(one.finished) > 1  # one run has no deviation
    return _identity(one) | {
        "metric": metric.replace("_", "-"),
        "runs": len(one.finished),
        "mean": mean,
        "std": ours.get("std") if several else None,
        "values": ours.get("values", []),
        "seeds": [record.seed for record in one.finished],
        "val_mean": val.get("mean"),
        "val_std": val.get("std") if several else None,
        "paper": paper.mean if paper else None,
        "paper_std": paper.std if paper else None,
        "paper_digits": paper.digits if paper else None,
        "source": paper.source if paper else "",
        "difference": difference,
        "beyond": several
        and difference is not None
        and abs(difference) > ours["std"] + (paper.std or 0.0 if paper else 0.0),
    }


def costs(records: Sequence[Record]) -> list[Row]:
    """What a group costs: precomputation, training, inference, memory, and the hops that it trains on."""
    return [_cost(one) for one in group(records) if one.job_type != SEARCH and one.finished]


def _cost(one: Group) -> Row:
    numbers = one.over_seeds()
    names = ("precompute", "epoch", "inference")
    row = _identity(one) | {"runs": len(one.finished)}
    for name in names:
        found = numbers.get(f"seconds/{name}", {})
        row |= {name: found.get("mean"), f"{name}_std": found.get("std")}
    first = one.finished[0]
    return row | {
        "epochs": numbers.get("epochs", {}).get("mean"),
        "training": _mean(training_seconds(record) for record in one.finished),
        "memory": max((record.metrics or {}).get("memory/peak_bytes", 0) for record in one.finished) or None,
        "parameters": (first.metrics or {}).get("parameters"),
        "bytes": hop_bytes(first),
        "products": _sum(record.products for record in one.finished),
        "rows_computed": _sum(record.rows_computed for record in one.finished),
        "rows_saved": _sum(record.rows_saved for record in one.finished),
    }


def training_seconds(record: Record) -> float | None:
    """All epochs, evaluation not counted."""
    if not record.epochs:
        return None
    return sum(row.get("seconds/epoch", 0.0) for row in record.epochs)


def hop_bytes(record: Record) -> int | None:
    """Bytes of the hop arrays that a run trains on and is tested with."""
    return sum(_number(hop.get("bytes")) for hop in record.hops) or None


def hops(records: Sequence[Record]) -> list[Row]:
    """Each stored array that some run used: its size, what it cost, and how often it was found in the store."""
    found: dict[tuple[str, ...], Row] = {}
    for record in records:
        for hop in record.hops:
            texts = [str(hop.get(name) or "") for name in ("name", "operator", "scope")]
            key = (record.dataset, *texts, str(hop.get("rows")))
            row = found.setdefault(key, _hop(record, texts, hop))
            row["found" if hop.get("found") else "computed"] += 1
            if not hop.get("found"):
                row |= {"seconds": hop.get("seconds"), "products": hop.get("products")}
            if record.model not in row["models"]:
                row["models"].append(record.model)
    return list(found.values())


def _hop(record: Record, texts: list[str], hop: Row) -> Row:
    return {
        "dataset": record.dataset,
        "hop": texts[0],
        "operator": texts[1],
        "scope": texts[2],
        "models": [],
        "computed": 0,
        "found": 0,
    } | {name: hop.get(name) for name in ("rows", "columns", "bytes", "seconds", "products")}


def runs(records: Sequence[Record]) -> list[Row]:
    """Every run that can be read, finished or not."""
    return [_run(record) for record in records]


def _run(record: Record) -> Row:
    numbers = record.metrics or {}
    return {
        "dataset": record.dataset,
        "model": record.model,
        "experiment": record.experiment,
        "job_type": record.job_type,
        "seed": record.seed,
        "state": "unfinished" if record.metrics is None else "finished",
        "started": record.started,
        "metric": record.metric.replace("_", "-"),
        "test": numbers.get(f"test/{record.metric}"),
        "val": numbers.get(f"val/{record.metric}"),
        "train": numbers.get(f"train/{record.metric}"),
        "loss": numbers.get("val/loss"),
        "epochs": numbers.get("epochs", len(record.epochs)),
        "precompute": numbers.get("seconds/precompute"),
        "epoch": numbers.get("seconds/epoch"),
        "inference": numbers.get("seconds/inference"),
        "folder": record.folder,
    }


def changes(records: Sequence[Record]) -> list[Row]:
    """The settings that are not the same in all runs, with their values and how many runs have each."""
    found = differences([record.settings for record in records])
    return [{"setting": name, "values": values} for name, values in found.items()]


def unreadable(problems: Iterable[Problem]) -> list[Row]:
    """Folders that are left out or shown in part, and why."""
    return [{"folder": problem.folder, "reason": problem.reason} for problem in problems]


def _identity(one: Group) -> Row:
    return {
        "dataset": one.dataset,
        "model": one.model,
        "experiment": one.experiment,
        "variant": one.variant,
        "job_type": one.job_type,
        "label": one.label,
    }


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
