"""Runs that start together, and runs that are killed: nothing is computed twice, nothing is lost."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from common.paths import REPOSITORY

pytestmark = pytest.mark.slow

POWER = 6
PROGRAM = f"""
import sys
from pathlib import Path
from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.graph.classification import classification_of
from sign.engines.local.engine import LocalEngine
from sign.operators.adjacency import NormalizedAdjacency
from sign.store.store import Store
from sign.system.console import show_log

class Counted(LocalEngine):
    def product(self, matrix, x, rows=None, out=None):
        with open(sys.argv[2], "a") as log:
            log.write("product\\n")
        return super().product(matrix, x, rows, out)

graph = Communities(nodes=60_000, edges=300_000, features=64).load()
show_log()
print("ready", flush=True)
sys.stdin.readline()
powers = {{"p": (NormalizedAdjacency(), {POWER})}}
hops = diffuse(classification_of(graph), powers, Counted(threads=1), Store(sys.argv[1]))
print(hops)
"""


def start(store: Path, log: Path) -> subprocess.Popen:
    """A process that has its graph and waits for a line before it diffuses."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(store), str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")},
    )
    assert process.stdout.readline() == "ready\n"
    return process


def products(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def recorded(store: Path) -> int:
    """Hops of the operator that manifests list."""
    manifests = [json.loads(file.read_text()) for file in store.rglob("manifest.json")]
    return sum(len(manifest["hops"]) for manifest in manifests if manifest["operator"])


def arrays(store: Path) -> dict[str, np.ndarray]:
    return {str(file.relative_to(store)): np.load(file) for file in sorted(store.rglob("hop-*.npy"))}


def test_eight_runs_compute_each_hop_once(tmp_path: Path) -> None:
    store, log = tmp_path / "store", tmp_path / "log"
    processes = [start(store, log) for _ in range(8)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert products(log) == POWER
    computed = [int(re.search(r"(\d+) hop arrays? computed", output)[1]) for output in outputs]
    assert sum(computed) == POWER + 1
    assert any("waiting for another run" in output for output in outputs)


def test_runs_that_are_killed_lose_nothing_that_was_finished(tmp_path: Path) -> None:
    whole, log = tmp_path / "whole", tmp_path / "log"
    process = start(whole, log)
    began = time.monotonic()
    process.communicate("\n")
    duration = time.monotonic() - began
    expected = arrays(whole)
    assert len(expected) == POWER + 1
    store, chance = tmp_path / "store", random.Random(0)
    for attempt in range(10):
        log = tmp_path / f"log{attempt}"
        before = recorded(store)
        process = start(store, log)
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(chance.random() * duration)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert products(log) <= recorded(store) - before + 1, "a finished hop was computed again"
    process = start(store, tmp_path / "last")
    process.communicate("\n")
    result = arrays(store)
    assert result.keys() == expected.keys()
    for name, array in expected.items():
        assert array.tobytes() == result[name].tobytes()
    assert not list(store.rglob("*.tmp"))
