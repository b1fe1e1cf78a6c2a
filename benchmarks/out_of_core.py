"""An epoch over rows that memory does not hold: ``python benchmarks/out_of_core.py``.

Four contenders train the same network on the same rows, each in a process of its own and with a cold page cache:

- *in memory*: a run with ``training.rows=memory`` and all the memory of the machine;
- *row file*: a run with ``training.rows=disk``;
- *memory maps*: the loop that one would write by hand, which gathers shuffled rows from one memory map per hop;
- *DataLoader*: the same, with the gathering in two workers of torch's ``DataLoader``.

The last three get a fraction (``--share``) of the size of the training rows as memory, enforced by a control group of
Linux where this process may make one. Epochs of runs include evaluation of the validation split; the loops have none,
and are stopped after ``--patience`` seconds: the seconds of a whole epoch are calculated from the rows by then.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from epochs import run_with_ticks
from numpy.lib.format import open_memmap
from rich.console import Console
from rich.table import Table
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.models.architecture import FEATURES
from sign.system import memory, memory_peak
from sign.system.console import console
from sign.tracking.base import NoTracker
from sign.training.datamodule import SIGNDataModule

CONTENDERS = ("in memory", "row file", "memory maps", "DataLoader")
WORKERS = 2
LABELS = "labels.npy"
Rows = list[np.ndarray]


def settings_of(folder: Path, options: argparse.Namespace, rows: str, budget: int | None) -> Settings:
    """A run with rows in memory or on disk; ``budget`` is in bytes."""
    overrides = [
        "dataset=communities",
        f"dataset.nodes={2 * options.rows}",
        f"dataset.edges={6 * options.rows}",
        f"dataset.features={options.features}",
        "dataset.val_fraction=0.1",
        f"model.p={options.hops - 1}",
        f"model.inception_units={options.units}",
        f"model.classification_units={2 * options.units}",
        f"training.batch_size={options.batch}",
        f"training.max_epochs={options.epochs + 1}",
        "training.patience=1000",
        f"training.rows={rows}",
        "training.shuffle=chunks",
        f"engine.memory={'null' if budget is None else f'{budget // 10**6}MB'}",
        *(f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")),
        "logger=csv",
    ]
    return configure(compose(*overrides), overrides)


def write(folder: Path, options: argparse.Namespace) -> None:
    """Fill the store, with row files, and write what the loops read: a file per hop, and labels."""
    settings = settings_of(folder, options, "disk", None)
    data = prepare(settings)
    assert isinstance(data, SIGNDataModule)
    np.save(folder / LABELS, data.classification.labels["train"])
    for number, (array, rows) in enumerate(zip(data.hops.arrays["train"], data.hops.rows["train"], strict=True)):
        out = open_memmap(folder / f"hop{number}.npy", "w+", np.float32, (len(rows), array.shape[1]))
        for start in range(0, len(rows), 1 << 16):
            out[start : start + (1 << 16)] = array[rows[start : start + (1 << 16)]]
        out.flush()


class MappedRows(Dataset[tuple[np.ndarray, np.ndarray]]):
    """Batches of rows by their indices, gathered from a memory map per hop."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob("hop*.npy"))
        self.hops: Rows = [np.load(file, mmap_mode="r") for file in files]
        self.labels = np.load(folder / LABELS)

    def __getitem__(self, index: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.hstack([hop[index] for hop in self.hops]), self.labels[index]

    def __getitems__(self, index: list[int]) -> tuple[np.ndarray, np.ndarray]:
        return self[np.array(index)]

    def __len__(self) -> int:
        return len(self.labels)


def as_tensors(batch: tuple[np.ndarray, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(batch[0]), torch.from_numpy(batch[1])


def gathered(rows: MappedRows, batch: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for index in torch.randperm(len(rows)).split(batch):
        yield as_tensors(rows[index.numpy()])


def loop(folder: Path, options: argparse.Namespace, workers: int) -> dict[str, Any]:
    """Seconds of an epoch by hand, and whether they were calculated from a part of it."""
    memory_peak.watch()
    rows = MappedRows(folder)
    columns = {f"p{power}" if power else FEATURES: hop.shape[1] for power, hop in enumerate(rows.hops)}
    network = settings_of(folder, options, "disk", None).architecture.network(columns, int(rows.labels.max()) + 1)
    optimizer = torch.optim.Adam(network.parameters())
    batches = (
        DataLoader(rows, options.batch, shuffle=True, num_workers=workers, collate_fn=as_tensors)
        if workers
        else gathered(rows, options.batch)
    )
    done, started = 0, time.perf_counter()
    for x, y in batches:
        optimizer.zero_grad(set_to_none=True)
        cross_entropy(network(x), y).backward()
        optimizer.step()
        done += len(y)
        if time.perf_counter() - started > options.patience:
            break
    seconds = (time.perf_counter() - started) * len(rows) / done
    return {"seconds": [seconds], "share": done / len(rows), "memory": memory_peak.metrics()["memory/peak_bytes"]}


def train(folder: Path, options: argparse.Namespace, rows: str, budget: int | None) -> dict[str, Any]:
    """Seconds of the epochs of a run."""
    metrics, seconds = run_with_ticks(settings_of(folder, options, rows, budget), NoTracker())
    return {"seconds": seconds, "share": 1, "memory": metrics["memory/peak_bytes"]}


def contend(name: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    if name == "in memory":
        return train(folder, options, "memory", None)
    if name == "row file":
        return train(folder, options, "disk", limit_of(options))
    return loop(folder, options, WORKERS if name == "DataLoader" else 0)


def row_bytes(options: argparse.Namespace) -> int:
    return 4 * options.rows * options.hops * options.features


def limit_of(options: argparse.Namespace) -> int:
    return int(options.share * row_bytes(options))


@contextmanager
def control_group(size: int) -> Iterator[Path | None]:
    """A control group of ``size`` bytes, page cache included; None where this process may not make one."""
    name = f"out-of-core-{os.getpid()}"
    for base, setting in ((memory.CGROUP / "memory", "memory.limit_in_bytes"), (memory.CGROUP, "memory.max")):
        group = base / name
        try:
            group.mkdir()
            (group / setting).write_text(str(size))
        except OSError:
            if group.exists():
                group.rmdir()
            continue
        try:
            yield group
        finally:
            group.rmdir()
        return
    yield None


def drop_from_cache(folder: Path) -> None:
    """Let the system forget the pages of all files."""
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(name: str, folder: Path, arguments: list[str], group: Path | None) -> dict[str, Any] | None:
    """What a contender reports from its own process; None if that was killed."""
    drop_from_cache(folder)
    command = [sys.executable, __file__, *arguments, "--contender", name, "--folder", str(folder)]
    if group is not None:
        command = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *command]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(result.stdout.splitlines()[-1]) if result.returncode == 0 else None


def compare(folder: Path, options: argparse.Namespace, arguments: list[str]) -> Table:
    """All contenders in turn."""
    subprocess.run([sys.executable, __file__, *arguments, "--contender", "write", "--folder", str(folder)], check=True)
    limit = limit_of(options)
    table = Table(
        title=f"{options.rows:,} rows × {options.hops} hops × {options.features}, "
        f"{memory.format_size(row_bytes(options))}; batches of {options.batch}, {torch.get_num_threads()} threads"
    )
    for column in ("", "memory", "needed", "seconds per epoch", "×"):
        table.add_column(column, justify="left" if not column else "right")
    best = None
    for name in CONTENDERS:
        with control_group(limit) as group:
            limited = name != CONTENDERS[0]
            result = measure(name, folder, arguments, group if limited else None)
        allowed = ("not enforced" if group is None else memory.format_size(limit)) if limited else "all"
        if result is None:
            table.add_row(name, allowed, "", "killed", "")
            continue
        seconds = statistics.median(result["seconds"])
        best = best or seconds
        measured = "" if result["share"] == 1 else f" (from {100 * result['share']:.1f} % of it)"
        ratio = f"{seconds / best:.2f}"
        table.add_row(name, allowed, memory.format_size(result["memory"]), f"{seconds:.1f}{measured}", ratio)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_500_000, help="training rows, half of the nodes")
    parser.add_argument("--hops", type=int, default=5)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--units", type=int, default=64, help="of a branch; the classifier has twice as many")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument(
        "--epochs", type=int, default=3, help="epochs of a run that are measured, after one that is not"
    )
    parser.add_argument("--share", type=float, default=0.25, help="memory, as a share of the size of the training rows")
    parser.add_argument("--patience", type=float, default=60, help="seconds for a loop")
    parser.add_argument("--contender", choices=("write", *CONTENDERS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="where the files are; a temporary folder unless given")
    options = parser.parse_args()
    console.quiet = True
    if options.contender == "write":
        write(options.folder, options)
    elif options.contender:
        print(json.dumps(contend(options.contender, options.folder, options)))
    else:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            Console().print(compare(Path(folder), options, sys.argv[1:]))


if __name__ == "__main__":
    main()
