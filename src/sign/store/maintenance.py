"""The content of a store: listed, verified and pruned."""

import contextlib
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.store.folder import FORMAT, MANIFEST
from sign.store.row_folder import KIND, ROWS, RowFolder
from sign.store.sparse_hops import PARTS
from sign.store.store import NODE_DIGESTS, HopFolder
from sign.system.console import progress
from sign.system.json_files import read_json
from sign.system.locks import LOCK_FILE, try_lock

DAY = 24 * 60 * 60
FINGERPRINT = re.compile(r"[0-9a-f]{16}")
ARRAY = rf"(hop-\d+(-({'|'.join(PARTS)}))?|node_digests|rows)\.npy"
# every file that a store writes
STORE_FILE = re.compile(rf"{ARRAY}|manifest\.json|\.lock|\.({ARRAY}|manifest\.json)\.tmp")


@dataclass(frozen=True)
class Entry:
    """A folder of the store: its key if it has a readable manifest, and the hops or row file that it records."""

    path: Path
    folder: HopFolder | RowFolder | None
    hops: dict[int, dict[str, Any]]
    rows: dict[str, Any] | None = None

    @property
    def arrays(self) -> int:
        """The number of hops and row files."""
        return len(self.hops) + (self.rows is not None)

    @property
    def key(self) -> dict[str, Any]:
        """What the hops are; empty without a readable manifest."""
        return self.folder.key if self.folder else {}

    def files(self) -> dict[Path, os.stat_result]:
        """Return the store's files in the folder; a file that a run is renaming may be missing."""
        files = {}
        for file in self.path.iterdir():
            if STORE_FILE.fullmatch(file.name):
                with contextlib.suppress(FileNotFoundError):
                    files[file] = file.stat()
        return files

    def size(self) -> int:
        """Return the bytes on disk."""
        return sum(stat.st_size for stat in self.files().values())

    def unused_days(self) -> float:
        """Return the days since the folder was last used."""
        return (time.time() - max((stat.st_mtime for stat in self.files().values()), default=0)) / DAY

    def damaged(self) -> list[Path]:
        """Return the files whose checksum is not the recorded one."""
        if isinstance(self.folder, RowFolder):
            return [] if self.rows is None or self.folder.is_intact(self.rows) else [self.folder.file]
        if self.folder is None:
            return []
        damaged = [(power, hop) for power, hop in self.hops.items() if not self.folder.is_intact(power, hop)]
        return [file for power, hop in damaged for file in self.folder.files(power, hop)]

    def leftovers(self) -> list[Path]:
        """Return the store's files that are incomplete or not in the manifest."""
        digests = {f"{NODE_DIGESTS}.npy" for hop in self.hops.values() if NODE_DIGESTS in hop}
        known = {MANIFEST, LOCK_FILE, *digests}
        if isinstance(self.folder, HopFolder):
            known |= {file.name for power, hop in self.hops.items() for file in self.folder.files(power, hop)}
        known |= set() if self.rows is None else {ROWS}
        return [file for file in self.files() if file.name not in known]


@dataclass
class Pruning:
    """Removed files and folders, folders that were skipped because a run is writing to them, and freed bytes."""

    removed: list[Path] = field(default_factory=list)
    busy: list[Path] = field(default_factory=list)
    freed: int = 0


def folders(root: Path) -> list[Path]:
    """Return the folders of the store by data set; a folder that is not named by a fingerprint is not the store's."""
    return sorted(path for path in root.glob("*/*") if path.is_dir() and FINGERPRINT.fullmatch(path.name))


def read_folder(path: Path) -> HopFolder | None:
    """Return a folder of hops with its key; None without a readable manifest."""
    try:
        manifest = read_json(path / MANIFEST)
        key = {name: value for name, value in manifest.items() if name != "hops"}
        operator = key["operator"]
        readable = key["format"] == FORMAT and {"scope", "dtype", "rows"} <= set(key)
        readable = readable and (operator is None or isinstance(operator["name"], str))
    except (SignError, ValueError, KeyError, TypeError, AttributeError):
        readable = False
    return HopFolder(path, key) if readable else None


def read_row_folder(path: Path) -> RowFolder | None:
    """Return the folder of a row file with its key; None without a readable manifest."""
    try:
        manifest = read_json(path / MANIFEST)
        key = {name: value for name, value in manifest.items() if name != KIND}
        readable = (key["format"], key["kind"]) == (FORMAT, KIND) and isinstance(key["hops"], list)
        readable = readable and {"dtype", "split"} <= set(key)
    except (SignError, ValueError, KeyError, TypeError, AttributeError):
        readable = False
    return RowFolder(path, key) if readable else None


def read_entry(path: Path) -> Entry:
    """Read what a folder of the store holds."""
    if row_folder := read_row_folder(path):
        return Entry(path, row_folder, {}, row_folder.entry())
    folder = read_folder(path)
    return Entry(path, folder, folder.hops() if folder else {})


def verify(root: Path) -> tuple[int, list[Path]]:
    """Compare every array with its checksum; return the number of arrays, and the damaged files."""
    entries = [read_entry(path) for path in folders(root)]
    total, damaged = sum(entry.arrays for entry in entries), []
    with progress() as bar:
        task = bar.add_task("checksums", total=total)
        for entry in entries:
            bar.update(task, description=f"checksums · {entry.path.name}")
            damaged += entry.damaged()
            bar.update(task, advance=entry.arrays)
    return total, damaged


def prune(root: Path, unused_days: float | None, damaged: bool, dry_run: bool) -> Pruning:
    """Remove incomplete files, folders of another version, and on request damaged arrays and unused folders.

    Only files that a store writes are removed. A folder that a run is writing to is skipped.
    """
    pruning = Pruning()
    for path in folders(root):
        with try_lock(path) as free:
            if not free:
                pruning.busy.append(path)
                continue
            entry = read_entry(path)
            whole = entry.folder is None or (unused_days is not None and entry.unused_days() > unused_days)
            files = entry.files()
            unwanted = list(files) if whole else [*entry.leftovers(), *(entry.damaged() if damaged else [])]
            pruning.freed += sum(files[file].st_size for file in unwanted)
            pruning.removed += [path] if whole else unwanted
            for file in [] if dry_run else unwanted:
                file.unlink()
            if whole and not dry_run:
                with contextlib.suppress(OSError):  # it contains files that are not the store's
                    path.rmdir()
    return pruning
