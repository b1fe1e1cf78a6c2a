"""Damaged run folders: the report lists each among the problems, and resuming one is one message or the right run."""

import random
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from common.damaged_runs import damaged_copy, damages

from faults.campaign import Campaign, Try
from faults.processes import SMALL, command, forked, paths

SECONDS = 1.0  # of processor time to read the report of two runs
OVERRIDES = ("dataset=communities", *SMALL, "model.p=1", "training.max_epochs=2", "logger=csv")


def run(folder: Path, tries: int, seed: int) -> Iterator[Try]:
    """Damage a copy of a run in each way, beside a good one; read both, and resume the copy."""
    outcome = command(folder / "cwd", "train", *OVERRIDES, *paths(folder))
    if found := outcome.problem(True):
        raise RuntimeError(found)
    (good,) = (file.parent for file in (folder / "output").rglob("run.json"))
    listed = list(damages())
    chosen = listed if tries >= len(listed) else random.Random(seed).sample(listed, tries)
    for name, damage in chosen:
        both = folder / "both"
        shutil.copytree(good, both / "good")
        damaged_copy(good, both / "damaged", damage)
        yield Try("report", name, report_problem(both))
        yield Try("resume", name, resume_problem(both / "damaged", folder))
        shutil.rmtree(both)


def report_problem(both: Path) -> str | None:
    """Read and write the report of a good and a damaged run; say what is wrong."""
    outcome = forked(partial(read_report, both), both / "cwd", timeout=20, memory=2**31)
    if found := outcome.problem(True):
        return found
    result: dict[str, Any] = outcome.result
    if not result["good"]:
        return "the good run is not shown"
    if not result["problems"]:
        return "not among the problems"
    return f"took {result['seconds']:.1f} s" if result["seconds"] > SECONDS else None


def read_report(both: Path) -> dict[str, Any]:
    """Read the runs and write the report; return what it shows."""
    from sign.report.write import Report

    started = time.process_time()
    report = Report.read([both])
    seconds = time.process_time() - started
    report.write(both / "page")
    folders = [record.folder for record in report.records if record.metrics is not None]
    return {"good": str(both / "good") in folders, "problems": len(report.problems), "seconds": seconds}


def resume_problem(damaged: Path, folder: Path) -> str | None:
    """Resume a damaged run; it must end with one message, or with the run's own result."""
    checkpoint = damaged / "checkpoints" / "last.ckpt"
    return command(folder / "cwd", "train", f"ckpt_path={checkpoint}", timeout=20, memory=2**32).problem()


FOLDERS = Campaign(
    "folders",
    "Damaged run folders: the report lists each among its problems within a second and shows the others; resuming "
    "one is one message or the right result.",
    400,
    run,
)
