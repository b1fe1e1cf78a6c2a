"""Run folders in the form that training and search write, without training."""

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

import yaml

from sign.report.run_records import RunRecord, read_runs


def make_run(
    folder: Path,
    dataset: str = "flickr",
    model: str = "SIGN(4,0,1)",
    seed: int = 0,
    score: float = 0.8,
    epochs: int = 30,
    finished: bool = True,
    **changes: Any,
) -> dict[str, float]:
    """Write a run folder; returns its final metrics. ``changes``: experiment, job_type, or settings of training."""
    draw = random.Random(f"{dataset} {model} {seed}")
    folder.mkdir(parents=True)
    experiment, job_type = changes.pop("experiment", None), changes.pop("job_type", "train")
    description = {"dataset": dataset, "model": model, "seed": seed, "experiment": experiment, "job_type": job_type}
    hops = [_hop(name, seed) for name in ("X", "p1", "p2", "p3")]
    counts = {"hops": hops, "products": 3, "rows_computed": 6000, "rows_saved": 3000}
    description |= {"group": None, "started": f"2026-06-01T10:{seed:02d}:00+00:00", "versions": {}} | counts
    (folder / "run.json").write_text(json.dumps(description))
    config: dict[str, Any] = {
        "seed": seed,
        "job_type": job_type,
        "dataset": {"name": dataset},
        "model": {"name": model, "p": 4},
    }
    config["training"] = {"learning_rate": 0.01, "batch_size": 1024} | changes
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    rows = [_epoch(epoch, score, draw) for epoch in range(epochs)]
    with (folder / "metrics.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    numbers = {"test/accuracy": score + draw.uniform(-0.01, 0.01), "test/loss": 0.6, "epochs": epochs}
    numbers |= {name: value for name, value in rows[-1].items() if name.startswith(("val", "train"))}
    numbers |= {"seconds/precompute": 0.02, "seconds/epoch": 0.05, "seconds/inference": 0.01}
    numbers |= {"memory/peak_bytes": 8e8, "parameters": 830023}
    if finished:
        (folder / "metrics.json").write_text(json.dumps(numbers))
    return numbers


def _hop(name: str, seed: int) -> dict[str, Any]:
    size = {"rows": 3000, "columns": 500, "bytes": 6_000_128}
    took = {"seconds": 0.01, "products": 0 if name == "X" else 1, "found": seed > 0}
    return (
        {"name": name, "operator": None if name == "X" else "adjacency(normalization=gcn)", "scope": "full"}
        | size
        | took
    )


def _epoch(epoch: int, score: float, draw: random.Random) -> dict[str, float]:
    near = score * (1 - math.exp(-(epoch + 1) / 6)) + draw.uniform(-0.01, 0.01)
    row = {"epoch": epoch, "val/loss": 2 - near + 0.01 * epoch, "val/accuracy": near, "train/loss": 2 - 2 * near}
    return row | {"train/accuracy": min(near + 0.1, 1.0), "seconds/epoch": 0.05 + draw.uniform(0, 0.01)}


def make_multilabel(folder: Path) -> None:
    """Let a run folder have the metric of multilabel data."""
    for file in (folder / "metrics.csv", folder / "metrics.json"):
        file.write_text(file.read_text().replace("accuracy", "micro_f1"))


def add_classes(folder: Path, classes: list[str], confusion: bool = True) -> None:
    """Add the further metrics of a run, the metrics of each class and, for single-label data, the confusion matrix."""
    draw = random.Random(f"{folder.name} {classes}")
    counts = [[draw.randint(60, 90) if true == guess else draw.randint(0, 9) for guess in classes] for true in classes]
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics |= {"test/macro_f1": 0.71, "test/roc_auc": 0.91, "test/average_precision": 0.81}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    with (folder / "per_class.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["class", "support", "precision", "recall", "f1"])
        writer.writerows([name, sum(row), 0.75, draw.random(), 0.5] for name, row in zip(classes, counts, strict=True))
    if confusion:
        with (folder / "confusion.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["true", *classes])
            writer.writerows([name, *row] for name, row in zip(classes, counts, strict=True))


def read_records(folder: Path) -> list[RunRecord]:
    """Read the runs below a folder, all of which must be finished and readable."""
    records, problems = read_runs([folder])
    assert problems == []
    return records


def make_study(folder: Path, trials: int = 30) -> dict[str, Any]:
    """Write ``study.json`` with one failed and one pruned trial."""
    draw = random.Random(5)
    listed = []
    for number in range(trials):
        rate, dropout = 10 ** draw.uniform(-4, -1), draw.uniform(0, 0.9)
        loss = (math.log10(rate) + 2.3) ** 2 * 0.2 + dropout * 0.05 + draw.uniform(0, 0.02) + 0.5
        state = {3: "fail", 5: "pruned"}.get(number, "complete")
        listed.append(
            {
                "number": number,
                "state": state,
                "value": None if state == "fail" else loss,
                "params": {"training.learning_rate": rate, "model.dropout": dropout},
                "seconds": 3 + draw.uniform(0, 2),
                "reason": "training diverged" if state == "fail" else None,
                "device": "cpu",
                "folder": f"trial-{number:04d}",
            }
        )
    importances = {"training.learning_rate": 0.81, "model.dropout": 0.19}
    study = {"study": "flickr-search", "direction": "minimize", "metric": "val/loss", "space": {}, "best": None}
    study |= {"trials": listed, "importances": importances}
    folder.mkdir(parents=True)
    (folder / "study.json").write_text(json.dumps(study))
    return study
