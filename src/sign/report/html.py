"""One HTML page that needs nothing else: text, style, script and numbers in a single file."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from sign.report import columns, tables
from sign.report.columns import MISSING, Layout, write
from sign.report.curves import curves
from sign.report.groups import SEARCH, differences, group, written
from sign.report.records import Problem, Record
from sign.system import memory

SCRIPTS = ("elements.js", "state.js", "table.js", "chart.js", "figures.js", "main.js")
NUMERIC = ("count", "score", "difference", "seconds", "bytes")


def content(records: Sequence[Record], problems: Sequence[Problem], studies: Sequence[Any]) -> dict[str, Any]:
    """All that the page shows, as plain data."""
    groups = sorted(group(records), key=lambda one: one.job_type == SEARCH)
    of = {id(record): index for index, one in enumerate(groups) for record in one.records}
    changing = differences([record.settings for record in records])
    common = records[0].settings if records else {}
    rows = tables.comparison(records)
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "facts": _facts(records, problems, studies),
        "groups": [
            {key: getattr(one, key) for key in ("dataset", "model", "job_type", "label")} for one in groups
        ],
        "results": rows,
        "runs": [
            {
                "group": of[id(record)],
                "dataset": record.dataset,
                "model": record.model,
                "job_type": record.job_type,
                "seed": record.seed,
                "folder": record.folder,
                "curve": curve,
                "settings": {
                    name: written(record.settings[name]) for name in changing if name in record.settings
                },
            }
            for record, curve in zip(records, curves(records), strict=True)
        ],
        "common": {name: written(value) for name, value in common.items() if name not in changing},
        "studies": studies,
        "tables": {
            shown.name: _table(shown, some)
            for shown, some in (
                (columns.RESULTS, rows),
                (columns.COSTS, tables.costs(records)),
                (columns.HOPS, tables.hops(records)),
                (columns.RUNS, tables.runs(records)),
                (columns.CHANGES, tables.changes(records)),
                (columns.PROBLEMS, tables.unreadable(problems)),
            )
        },
    }


def html(shown: dict[str, Any]) -> str:
    """The page. Numbers and names come in as JSON, which the script writes as text: nothing of them is markup."""
    data = json.dumps(shown, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    parts = {
        "style": _file("style.css"),
        "script": "\n".join(_file(name) for name in SCRIPTS),
        "data": data.replace("<", "\\u003c"),
    }
    page = _file("page.html")
    for name, text in parts.items():
        before, _, after = page.partition(f"/*{name}*/")
        page = before + text + after
    return page


def _table(shown: Layout, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A table with its cells written out, beside the values that they are sorted by; empty columns are left out."""
    texts = [[write(row, column) for column in shown.columns] for row in rows]
    kept = [index for index in range(len(shown.columns)) if any(line[index] != MISSING for line in texts)]
    columns = [shown.columns[index] for index in kept]
    return {
        "caption": shown.caption,
        "columns": [
            {
                "key": column.key,
                "title": column.title,
                "hint": column.hint,
                "number": column.kind in NUMERIC,
                "kind": column.kind,
                "bar": column.bar,
            }
            for column in columns
        ],
        "rows": [
            {
                "cells": [line[index] for index in kept],
                "values": [_sortable(row.get(column.key)) for column in columns],
                "dataset": row.get("dataset"),
                "models": row.get("models") or [row.get("model")],
                "job_type": row.get("job_type"),
                "beyond": row.get("beyond", False),
            }
            for row, line in zip(rows, texts, strict=True)
        ],
    }


def _sortable(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, int | float | str):
        return value
    return str(value)


def _facts(
    records: Sequence[Record], problems: Sequence[Problem], studies: Sequence[Any]
) -> list[dict[str, str]]:
    """The numbers at the head of the page."""
    finished = [record for record in records if record.metrics is not None]
    trained = sum(tables.training_seconds(record) or 0.0 for record in records)
    arrays = tables.hops(records)
    saved = sum(record.rows_saved or 0 for record in records)
    computed = sum(record.rows_computed or 0 for record in records)
    size = sum(row["bytes"] or 0 for row in arrays)
    facts = [
        ("runs", f"{len(finished):,}", "finished"),
        ("data sets", f"{len({record.dataset for record in records}):,}", ""),
        ("models", f"{len({record.model for record in records}):,}", ""),
        ("training", columns.seconds(trained), "all runs, without evaluation"),
        ("hops", memory.format_size(size), f"{len(arrays):,} arrays"),
    ]
    if saved:
        facts.append(("rows saved", f"{saved / (saved + computed):.0%}", "of the products' rows"))
    if studies:
        facts.append(("trials", f"{sum(len(study['trials']) for study in studies):,}", "of all searches"))
    if problems:
        facts.append(("left out", f"{len(problems):,}", "unfinished or damaged"))
    return [{"name": name, "value": value, "note": note} for name, value, note in facts]


def _file(name: str) -> str:
    return (files("sign.report") / "assets" / name).read_text(encoding="utf-8")
