"""Full and read-only disks: one message that names the folder, nothing half-written, and a second try succeeds."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults.campaign import Campaign, Try
from faults.kills import Place, half_written
from faults.processes import SMALL, Outcome, command

NETWORK = ("model.inception_units=128", "model.classification_units=128", "training.max_epochs=3")
COMMON = ("dataset=communities", *SMALL, "dataset.nodes=3000", "dataset.edges=9000", "model.p=2", "logger=csv")
SIZE = 24 * 2**20  # bytes of the small disk: enough for each command
FREE = [0, 4096, 20_000, 60_000, 200_000, 500_000, 1_000_000, 2_000_000]  # bytes that are left on a full disk
KIND = {"output": "paths.output_dir", "store": "paths.store_dir"}


@dataclass(frozen=True)
class Work:
    """A command, its overrides, and the folder on the bad disk: of a path setting, or one that an override names."""

    name: str
    program: str
    folder: str
    overrides: tuple[str, ...] = ()
    filled: bool = False  # the store has all hops: nothing needs to be written to the disk

    def run(self, base: Path, disk: Path) -> Outcome:
        """Run the command with one folder on the disk and the others beside it."""
        folders = {kind: base / kind for kind in ("data", "store", "output")} | {self.folder: disk / self.folder}
        paths = [f"paths.{kind}_dir={folders[kind]}" for kind in ("data", "store", "output")]
        common = () if self.program == "report" else (*COMMON, *NETWORK)
        overrides = [override.format(disk=disk, base=base) for override in self.overrides]
        environment = {"TMPDIR": str(base / "tmp")}
        return command(base / "cwd", self.program, *common, *paths, *overrides, environment=environment)


SEARCH = ("-m", "hparams_search=tpe", "search.trials=1", "search.runs=1", "search.slots=1")
WORKS = [
    Work("diffusion", "precompute", "store"),
    Work("training, store", "train", "store"),
    Work("training, store with all hops", "train", "store", filled=True),
    Work("training, run folder", "train", "output"),
    Work("series", "train", "output", ("runs=2",)),
    Work("search", "train", "output", SEARCH),
    Work("export", "store", "pack", ("action=export", "path={disk}/pack")),
    Work("report", "report", "page", ("folders=[{base}/output]", "output={disk}/page")),
]


def run(folder: Path, tries: int, seed: int) -> Iterator[Try]:
    """Run each command on full disks with different space left, and on a read-only disk."""
    disk = folder / "disk"
    if not can_mount(disk):
        yield Try("disks", "", skipped="mounting a small disk needs root")
        return
    prepare_runs(folder / "runs")
    faults = [(work, free) for free in (None, *FREE) for work in WORKS]
    chosen = faults if tries >= len(faults) else random.Random(seed).sample(faults, tries)
    for work, free in chosen:
        base = folder / "base"
        shutil.copytree(folder / "runs", base)
        (base / "tmp").mkdir()
        with mounted(disk):
            kind = f"{work.name}, {'read-only' if free is None else 'full'} disk"
            name = "read-only" if free is None else f"{free:,} bytes left"
            yield Try(kind, name, problem(work, base, disk, free))
        shutil.rmtree(base)


def prepare_runs(base: Path) -> None:
    """Train one run, for the report."""
    outcome = Work("", "train", "output").run(base, base)
    if found := outcome.problem(True):
        raise RuntimeError(found)
    shutil.rmtree(base / "store")


def problem(work: Work, base: Path, disk: Path, free: int | None) -> str | None:
    """Run a command on a disk that cannot be written, then on the same disk when it can; say what is wrong."""
    if work.filled and (found := work.run(base, disk).problem(True)):
        return found
    if free is None:
        remount(disk, "ro")
    else:
        used = sum(file.stat().st_blocks * 512 for file in disk.rglob("*") if file.is_file())
        (disk / "ballast").write_bytes(bytes(SIZE - used - free))
    outcome = work.run(base, disk)
    expected = True if work.filled else None if free else False
    if found := outcome.problem(expected) or half_written(Place(disk, base / "tmp")):
        return found
    if outcome.code == 0:  # there was room enough
        return None
    message = outcome.message
    if not (str(disk) in message or KIND.get(work.folder, str(disk)) in message):
        return f"the message names another folder: {message}"
    if leftovers := [str(file) for file in (base / "tmp").rglob("*") if file.is_file()]:
        return f"left in the temporary folder: {leftovers}"
    if free is None:
        remount(disk, "rw")
    else:
        (disk / "ballast").unlink()
    if found := work.run(base, disk).problem(True):
        return f"after the disk was writable again: {found}"
    return half_written(Place(disk, base / "tmp"))


def can_mount(disk: Path) -> bool:
    """Return whether a small disk can be mounted."""
    if os.geteuid() or not shutil.which("mount"):
        return False
    try:
        with mounted(disk):
            return True
    except subprocess.CalledProcessError:  # a container without the right to
        return False


@contextmanager
def mounted(disk: Path) -> Iterator[None]:
    """Mount a small disk in memory."""
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def remount(disk: Path, mode: str) -> None:
    """Make a disk read-only (``ro``) or writable (``rw``)."""
    subprocess.run(["mount", "-o", f"remount,{mode}", str(disk)], check=True)


DISKS = Campaign(
    "disks",
    "A full or read-only disk under the store, the run folder, an export or the report: one message that names the "
    "folder, no half-written file, and the same command succeeds once the disk can be written. A store that has all "
    "hops need not be writable.",
    len(WORKS) * (1 + len(FREE)),
    run,
)
