"""An epoch on Cora beside another process: ``python benchmarks/sharing.py``.

Two runs of ``src/train.py`` take turns, stopped and continued by signals, alone and beside a competitor: a torch
process that trains with two threads. Threads of one run spin as OpenMP lets them, those of the other as the command
chooses on a shared machine. Milliseconds per epoch, milliseconds of processor time, and how many cores the rest of the
machine used meanwhile: on a busy machine no run is ever alone.
"""

import argparse
import csv
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "src"))
from sign.system.threads import FEW_SPINS, OMP, WAITING, allowed_cores, idle_seconds  # noqa: E402

POLICIES = {"spinning": {"GOMP_SPINCOUNT": "300000"}, "sleeping": {"GOMP_SPINCOUNT": FEW_SPINS}}
COMPETITOR = """
import torch
torch.set_num_threads(2)
network = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8)))
optimizer, rows = torch.optim.SGD(network.parameters(), 1e-3), torch.randn(1024, 256)
while True:
    optimizer.zero_grad()
    network(rows).square().mean().backward()
    optimizer.step()
"""
TICKS = os.sysconf("SC_CLK_TCK")


def start(command: list[str], **variables: str) -> subprocess.Popen[bytes]:
    """Start a process with OpenMP's own defaults, apart from ``variables``."""
    inherited = {name: value for name, value in os.environ.items() if name not in (OMP, *WAITING)}
    return subprocess.Popen([sys.executable, *command], env=inherited | variables, stdout=subprocess.DEVNULL)


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@dataclass
class Case:
    """What was measured of a policy, alone or beside the competitor."""

    epochs: list[float] = field(default_factory=list)
    cpu: float = 0.0
    others: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        fast = sorted(self.epochs)[len(self.epochs) // 10]
        return (
            f"{len(self.epochs):5} epochs, {self.median * 1e3:6.1f} ms (fastest tenth {fast * 1e3:5.1f}), "
            f"{self.cpu / len(self.epochs) * 1e3:6.1f} ms of processor time; "
            f"the rest of the machine used {statistics.fmean(self.others):.1f} cores"
        )

    @property
    def median(self) -> float:
        """The median of the seconds per epoch."""
        return statistics.median(self.epochs)


class Training:
    """A training that is stopped, unless it is measured."""

    def __init__(self, folder: Path, overrides: list[str], variables: dict[str, str]) -> None:
        self.folder = folder
        paths = [f"paths.output_dir={folder}", f"paths.store_dir={folder.parent / 'store'}", "logger=csv"]
        endless = ["training.max_epochs=1000000", "training.patience=1000000"]
        self.process = start([str(REPOSITORY / "src" / "train.py"), *paths, *endless, *overrides], **variables)
        while len(self.seconds()) < 10:  # warm up
            if self.process.poll() is not None:
                raise SystemExit("the training ended")
            time.sleep(0.1)
        self.process.send_signal(signal.SIGSTOP)

    def seconds(self) -> list[float]:
        """The seconds of the epochs so far; a row that is being written is left out."""
        lines = [line for file in self.folder.rglob("metrics.csv") for line in file.open() if line.endswith("\n")]
        return [float(row["seconds/epoch"]) for row in csv.DictReader(lines) if row["seconds/epoch"]]

    def measure(self, case: Case, seconds: float, competitor: subprocess.Popen[bytes] | None) -> None:
        """Continue for some seconds."""
        before, mine, idle, started = len(self.seconds()), cpu_seconds(self.process), idle_seconds(), time.monotonic()
        theirs = cpu_seconds(competitor) if competitor else 0.0
        self.process.send_signal(signal.SIGCONT)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGSTOP)
        elapsed = time.monotonic() - started
        used = cpu_seconds(self.process) - mine + (cpu_seconds(competitor) - theirs if competitor else 0.0)
        epochs = self.seconds()[before:]
        case.epochs += epochs[1:]  # the first one includes the time in which it was stopped
        case.cpu += (cpu_seconds(self.process) - mine) * len(epochs[1:]) / max(1, len(epochs))
        case.others.append(max(0.0, len(allowed_cores()) - (idle_seconds() - idle + used) / elapsed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0, help="per turn")
    parser.add_argument("overrides", nargs="*")
    asked = parser.parse_args()
    cases = {(name, beside): Case() for name in POLICIES for beside in (False, True)}
    with tempfile.TemporaryDirectory() as folder:
        trainings = {
            name: Training(Path(folder, str(index)), asked.overrides, variables)
            for index, (name, variables) in enumerate(POLICIES.items())
        }
        competitor = start(["-c", COMPETITOR])
        try:
            time.sleep(10)  # until it trains
            for _ in range(asked.rounds):
                for beside in (False, True):
                    competitor.send_signal(signal.SIGCONT if beside else signal.SIGSTOP)
                    for name, training in trainings.items():
                        training.measure(cases[name, beside], asked.seconds, competitor if beside else None)
        finally:
            for process in (competitor, *(training.process for training in trainings.values())):
                process.kill()
                process.wait()
    base = cases["spinning", False].median
    for (name, beside), case in cases.items():
        print(f"{name} {'beside' if beside else 'alone ':6} {case.median / base:5.2f} times as long: {case}")


if __name__ == "__main__":
    main()
