"""Runs that start together, and runs that are killed: nothing is computed twice, nothing is lost."""

import json
import random
import time
from pathlib import Path

import numpy as np
import pytest
from common.diffusing import POWER, Diffusion

pytestmark = pytest.mark.slow


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
    runs = [Diffusion(store, log) for _ in range(8)]
    for run in runs:
        run.begin()
    computed, messages = zip(*(run.end() for run in runs), strict=True)
    assert products(log) == POWER
    assert sum(computed) == POWER + 1
    assert any("waiting for another run" in text for texts in messages for text in texts)


def test_runs_that_are_killed_lose_nothing_that_was_finished(tmp_path: Path) -> None:
    whole, log = tmp_path / "whole", tmp_path / "log"
    run = Diffusion(whole, log)
    run.begin()
    began = time.monotonic()
    run.end()
    duration = time.monotonic() - began
    expected = arrays(whole)
    assert len(expected) == POWER + 1
    store, chance = tmp_path / "store", random.Random(0)
    for attempt in range(10):
        log = tmp_path / f"log{attempt}"
        before = recorded(store)
        run = Diffusion(store, log)
        run.begin()
        time.sleep(chance.random() * duration)
        run.kill()
        assert products(log) <= recorded(store) - before + 1, "a finished hop was computed again"
    run = Diffusion(store, tmp_path / "last")
    run.begin()
    run.end()
    result = arrays(store)
    assert result.keys() == expected.keys()
    for name, array in expected.items():
        assert array.tobytes() == result[name].tobytes()
    assert not list(store.rglob("*.tmp"))
