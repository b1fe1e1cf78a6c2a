"""What a store holds: listed, checked, and freed of what is of no use."""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from sign import memory
from sign.console import console, progress
from sign.errors import SignError
from sign.store import FORMAT, MANIFEST, Chain

DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Entry:
    """A folder of the store, its chain if it has a readable manifest, and the files that the manifest lists."""

    folder: Path
    chain: Chain | None
    hops: dict[int, dict[str, Any]]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file())

    @property
    def days(self) -> float:
        """Since it was last used."""
        return (
            time.time() - max(file.stat().st_mtime for file in [self.folder, *self.folder.iterdir()])
        ) / DAY

    @property
    def what(self) -> str:
        """The operator, and its fields."""
        if self.chain is None:
            return "no manifest, or one of another version"
        operator = self.chain.key["operator"]
        if operator is None:
            return "features"
        fields = ", ".join(
            f"{name}={value}" for name, value in operator.items() if name not in ("class", "source")
        )
        return f"{operator['class'].rpartition('.')[2]}: {fields}"

    @property
    def leftovers(self) -> list[Path]:
        """Files of no use: half-written, or not what the manifest says."""
        known = {MANIFEST, ".lock", *(f"hop-{power}.npy" for power in self.hops)}
        return [file for file in self.folder.iterdir() if file.is_file() and file.name not in known]


def entries(root: Path) -> Iterator[Entry]:
    """Every folder of the store, by data set."""
    for folder in sorted(path for path in root.glob("*/*") if path.is_dir()):
        try:
            manifest = json.loads((folder / MANIFEST).read_text())
            current = manifest["format"] == FORMAT and "operator" in manifest
        except (OSError, ValueError, KeyError, TypeError):
            current = False
        if not current:
            if any(folder.glob("hop-*.npy")) or any(folder.glob(".hop-*")) or (folder / MANIFEST).exists():
                yield Entry(folder, None, {})
            continue
        del manifest["hops"]
        chain = Chain(folder, manifest)
        yield Entry(folder, chain, chain.hops())


def show(root: Path) -> None:
    """A table of what is there."""
    table = Table(title=f"{root.resolve()}", title_justify="left", show_lines=True)
    table.add_column("data set")
    table.add_column("operator, folder", overflow="fold")
    for column in ("hops", "rows", "size", "used"):
        table.add_column(column, justify="right", no_wrap=True)
    total = 0
    for entry in entries(root):
        total += entry.size
        key = entry.chain.key if entry.chain else {}
        rows = next((f"{hop['shape'][0]:,}" for hop in entry.hops.values()), "")
        place = f"{key['scope']} graph, {key['dtype']}, " if key else ""
        table.add_row(
            entry.folder.parent.name,
            f"{entry.what}\n[dim]{place}{entry.folder.name}[/dim]",
            _ranges(list(entry.hops)),
            rows if key.get("rows") is None else f"{rows} used",
            memory.readable(entry.size),
            _ago(entry.days),
        )
    console.print(table)
    free = memory.readable(shutil.disk_usage(root).free)
    console.print(f"{memory.readable(total)} in all; {free} free on the disk")


def verify(root: Path) -> None:
    """Compare every hop with its checksum; damaged ones are named, and computed again when they are needed."""
    every = [(entry, power) for entry in entries(root) for power in entry.hops]
    damaged = []
    with progress() as bar:
        task = bar.add_task("checksums", total=len(every))
        for entry, power in every:
            if entry.chain and not entry.chain.is_intact(power, entry.hops[power]):
                damaged.append(entry.folder / f"hop-{power}.npy")
            bar.update(task, advance=1, description=f"checksums · {entry.folder.name}")
    for file in damaged:
        console.print(f"damaged: {file}", soft_wrap=True)
    if damaged:
        raise SignError(
            f"{len(damaged)} of {len(every)} hops are damaged; action=prune damaged=true removes them"
        )
    console.print(f"{len(every)} hops are as they were written")


def prune(root: Path, unused_days: float | None, damaged: bool, dry_run: bool) -> None:
    """Remove what is of no use: half-written files, folders of another version, and what is asked for."""
    freed = 0
    for entry in entries(root):
        gone: list[Path] = entry.leftovers
        if entry.chain is None or (unused_days is not None and entry.days > unused_days):
            gone = [entry.folder]
        elif damaged:
            gone += [
                entry.folder / f"hop-{power}.npy"
                for power, hop in entry.hops.items()
                if not entry.chain.is_intact(power, hop)
            ]
        if gone and Chain(entry.folder, {}).is_busy:
            console.print(f"left alone, a run is at it: {entry.folder}", soft_wrap=True)
            continue
        for path in gone:
            size = entry.size if path == entry.folder else path.stat().st_size
            freed += size
            done = "would remove" if dry_run else "removed"
            console.print(f"{done} {path} ({memory.readable(size)})", soft_wrap=True)
            if not dry_run:
                shutil.rmtree(path) if path == entry.folder else path.unlink()
    console.print(f"{memory.readable(freed)} {'would be' if dry_run else 'are'} free")


def _ranges(powers: list[int]) -> str:
    """Powers as people write them: 1 to 4, 6."""
    runs: list[list[int]] = []
    for power in sorted(powers):
        if runs and power == runs[-1][-1] + 1:
            runs[-1].append(power)
        else:
            runs.append([power])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _ago(days: float) -> str:
    if days >= 1:
        return f"{days:.0f} d ago"
    return f"{days * 24:.0f} h ago" if days * 24 >= 1 else f"{days * 24 * 60:.0f} min ago"
