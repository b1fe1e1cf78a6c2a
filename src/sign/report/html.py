"""The report as one self-contained HTML page: text, style, scripts and numbers in a single file."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from sign.report import columns, tables
from sign.report.class_results import class_results
from sign.report.columns import NUMERIC, TableSpec, cell
from sign.report.curves import curves
from sign.report.groups import SEARCH, differences, group_runs, yaml_text
from sign.report.run_records import FolderProblem, RunRecord
from sign.report.studies import choices
from sign.system import memory
from sign.system.text_files import visible

SCRIPTS = ("elements.js", "state.js", "table.js", "chart.js", "figures.js", "classes.js", "main.js")


def page_data(records: list[RunRecord], problems: list[FolderProblem], studies: list[Any]) -> dict[str, Any]:
    """All that the page shows, as plain data."""
    groups = sorted(group_runs(records), key=lambda group: group.job_type == SEARCH)
    group_index = {id(record): index for index, group in enumerate(groups) for record in group.records}
    differing = differences([record.flat_config for record in records])
    config = records[0].flat_config if records else {}
    results = tables.comparison(records)
    return {
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "facts": _facts(records, problems, studies),
        "groups": [{key: getattr(group, key) for key in ("dataset", "model", "job_type", "label")} for group in groups],
        "results": results,
        "runs": [
            {key: getattr(record, key) for key in ("dataset", "model", "job_type", "seed", "folder", "metric")}
            | {"group": group_index[id(record)], "curve": curve}
            | {"settings": _texts({name: v for name, v in record.flat_config.items() if name in differing})}
            for record, curve in zip(records, curves(records), strict=True)
        ],
        "common": _texts({name: value for name, value in config.items() if name not in differing}),
        "studies": studies,
        "classes": class_results(records),
        "tables": {
            table.name: _table(table, rows)
            for table, rows in (
                (columns.RESULTS, [row for row in results if not row["brief"]]),
                (columns.BRIEF, [row for row in results if row["brief"]]),
                (columns.COSTS, tables.costs(records)),
                (columns.HOPS, tables.hops(records)),
                (columns.RUNS, tables.runs(records)),
                (columns.CHANGES, tables.changes(records)),
                (columns.CHOICES, choices(studies)),
                (columns.PROBLEMS, tables.problems(problems)),
            )
        },
    }


def render(data: dict[str, Any]) -> str:
    """The page. Data are embedded as JSON, and the script inserts them as text: none of them becomes markup."""
    text = json.dumps(_visible(data), allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    script = "\n".join(_asset(name) for name in SCRIPTS)
    parts = {"style": _asset("style.css"), "script": script, "data": text.replace("<", "\\u003c")}
    page = _asset("page.html")
    for name, part in parts.items():
        before, _, after = page.partition(f"/*{name}*/")
        page = before + part + after
    return page


def _visible(value: Any) -> Any:
    """The same data with safe texts, of names and values alike."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _visible(item) for name, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, list | tuple) else value


def _texts(config: dict[str, Any]) -> dict[str, str]:
    return {name: yaml_text(value) for name, value in config.items()}


def _table(table: TableSpec, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Cells as text beside the values that they are sorted by; empty columns are left out."""
    shown = table.with_values(rows)
    return {
        "caption": table.caption,
        "columns": [
            {key: getattr(column, key) for key in ("key", "title", "hint", "kind", "bar")}
            | {"number": column.kind in NUMERIC}
            for column in shown
        ],
        "rows": [
            {
                "cells": [cell(row, column) for column in shown],
                "values": [_sortable(row.get(column.key)) for column in shown],
                "dataset": row.get("dataset"),
                "models": row.get("models") or [row.get("model")],
                "job_type": row.get("job_type"),
                "beyond": row.get("beyond", False),
            }
            for row in rows
        ],
    }


def _sortable(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _facts(records: list[RunRecord], problems: list[FolderProblem], studies: list[Any]) -> list[dict[str, str]]:
    """The key figures at the top of the page."""
    finished = sum(record.metrics is not None for record in records)
    trained = sum(tables.training_seconds(record) for record in records)
    arrays = tables.hops(records)
    saved = sum(record.rows_saved or 0 for record in records)
    computed = sum(record.rows_computed or 0 for record in records)
    size = sum(row["bytes"] or 0 for row in arrays)
    facts = [
        ("runs", f"{finished:,}", "finished"),
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


def _asset(name: str) -> str:
    return (files("sign.report") / "assets" / name).read_text(encoding="utf-8")
