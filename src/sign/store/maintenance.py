"""What a store holds: listed, checked, and freed of what is of no use."""

import contextlib
import json
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from sign.errors import SignError
from sign.store.store import FORMAT, MANIFEST, Chain
from sign.system import memory
from sign.system.console import console, progress
from sign.system.locks import LOCK_FILE, try_lock

DAY = 24 * 60 * 60
NAME = re.compile(r"[0-9a-f]{16}")  # a fingerprint
OURS = re.compile(
    r"hop-\d+\.npy|manifest\.json|\.lock|\.(hop-\d+\.npy|manifest\.json)\.tmp"
)  # all that is written


@dataclass(frozen=True)
class Entry:
    """A folder of the store, its chain if it has a readable manifest, and the files that the manifest lists."""

    folder: Path
    chain: Chain | None
    hops: dict[int, dict[str, Any]]

    @property
    def files(self) -> dict[Path, os.stat_result]:
        """Our files in the folder; one that a run is renaming may be gone."""
        found = {}
        for file in self.folder.iterdir():
            if OURS.fullmatch(file.name):
                with contextlib.suppress(FileNotFoundError):
                    found[file] = file.stat()
        return found

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(stat.st_size for stat in self.files.values())

    @property
    def days(self) -> float:
        """Since it was last used."""
        return (time.time() - max((stat.st_mtime for stat in self.files.values()), default=0)) / DAY

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
        """Files of ours that are of no use: half-written, or not in the manifest."""
        known = {MANIFEST, LOCK_FILE, *(f"hop-{power}.npy" for power in self.hops)}
        return [file for file in self.files if file.name not in known]


def folders(root: Path) -> list[Path]:
    """Those of the store, by data set. Ours are named by a fingerprint; others are none of our business."""
    return sorted(path for path in root.glob("*/*") if path.is_dir() and NAME.fullmatch(path.name))


def entry_of(folder: Path) -> Entry:
    """What a folder of the store holds."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        key = {name: value for name, value in manifest.items() if name != "hops"}
        operator = key["operator"]
        readable = key["format"] == FORMAT and {"scope", "dtype", "rows"} <= set(key)
        readable = readable and (operator is None or isinstance(operator["class"], str))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        readable = False
    chain = Chain(folder, key) if readable else None
    return Entry(folder, chain, chain.hops() if chain else {})


def show(root: Path) -> None:
    """A table of what is there."""
    table = Table(title=f"{root.resolve()}", title_justify="left", show_lines=True)
    table.add_column("data set")
    table.add_column("operator, folder", overflow="fold")
    for column in ("hops", "rows", "size", "used"):
        table.add_column(column, justify="right", no_wrap=True)
    total = 0
    for entry in map(entry_of, folders(root)):
        total += entry.size
        key = entry.chain.key if entry.chain else {}
        rows = next((f"{hop['shape'][0]:,}" for hop in entry.hops.values()), "")
        place = f"{key['scope']} graph, {key['dtype']}, " if key else ""
        table.add_row(
            entry.folder.parent.name,
            f"{entry.what}\n[dim]{place}{entry.folder.name}[/dim]",
            _ranges(list(entry.hops)),
            rows if key.get("rows") is None else f"{rows} used",
            memory.format_size(entry.size),
            _ago(entry.days),
        )
    console.print(table)
    free = memory.format_size(shutil.disk_usage(root).free)
    console.print(f"{memory.format_size(total)} in all; {free} free on the disk")


def verify(root: Path) -> None:
    """Compare every hop with its checksum; damaged ones are named, and computed again when they are needed."""
    every = [entry_of(folder) for folder in folders(root)]
    hops, damaged = sum(len(entry.hops) for entry in every), []
    with progress() as bar:
        task = bar.add_task("checksums", total=hops)
        for entry in every:
            bar.update(task, description=f"checksums · {entry.folder.name}")
            damaged += _damaged(entry)
            bar.update(task, advance=len(entry.hops))
    for file in damaged:
        console.print(f"damaged: {file}", soft_wrap=True)
    if damaged:
        raise SignError(f"{len(damaged)} of {hops} hops are damaged; action=prune damaged=true removes them")
    console.print(f"{hops} hops are as they were written")


def prune(root: Path, unused_days: float | None, damaged: bool, dry_run: bool) -> None:
    """Remove what is of no use: half-written files, folders of another version, and what is asked for.

    Only files that a store writes are removed. A folder that a run is adding to is left alone.
    """
    freed = 0
    for folder in folders(root):
        with try_lock(folder) as free:
            if not free:
                console.print(f"left alone, a run is at it: {folder}", soft_wrap=True)
                continue
            entry = entry_of(folder)
            files = entry.files
            whole = entry.chain is None or (unused_days is not None and entry.days > unused_days)
            unwanted = list(files) if whole else [*entry.leftovers, *(_damaged(entry) if damaged else [])]
            freed += sum(files[file].st_size for file in unwanted)
            for path in [folder] if whole else unwanted:
                console.print(f"{'would remove' if dry_run else 'removed'} {path}", soft_wrap=True)
            for file in [] if dry_run else unwanted:
                file.unlink()
            if whole and not dry_run:
                with contextlib.suppress(OSError):  # somebody's own files are in it
                    folder.rmdir()
    console.print(f"{memory.format_size(freed)} {'would be' if dry_run else 'are'} free")


def _damaged(entry: Entry) -> list[Path]:
    """Hops whose checksum is not the recorded one."""
    return [
        entry.folder / f"hop-{power}.npy"
        for power, hop in entry.hops.items()
        if entry.chain and not entry.chain.is_intact(power, hop)
    ]


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
