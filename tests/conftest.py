"""Fixtures and settings that all tests share."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from common.services import fail_if_expected
from hydra.core.hydra_config import HydraConfig
from hypothesis import HealthCheck, settings

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.system.threads import FEW_SPINS

# One thread per pytest worker, and per command that a test starts: more would compete for the same cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# numba has two, for tests of threads, and so has torch after the first compiled loop, since they share a runtime: here
# and in every command alike, so that their numbers can be compared. They must not spin while they wait for a core.
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
os.environ.setdefault("GOMP_SPINCOUNT", FEW_SPINS)

COMPILED = {"graph", "operators", "engines", "diffusion"}  # packages whose tests compile most of the loops

# Hypothesis measures how long it takes to make examples: on a busy machine that says nothing about a test.
settings.register_profile(
    "sign", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sign")


@pytest.fixture(autouse=True)
def quiet_library() -> Iterator[None]:
    """Undo what a command that ran in this process did to the logger: the library itself prints nothing."""
    logger = logging.getLogger("sign")
    handlers, level = list(logger.handlers), logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def no_running_command() -> Iterator[None]:
    """Forget the configuration of a command that ran in this process."""
    yield
    HydraConfig.instance().cfg = None


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Settings]:
    """Return a function from overrides to checked settings that write under ``tmp_path``, without W&B."""

    def make(*overrides: str) -> Settings:
        folders = [f"paths.{kind}_dir={tmp_path / kind}" for kind in ("data", "store", "output")]
        return configure(compose("logger=csv", *folders, *overrides), overrides)

    return make


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the notebooks, which cannot carry a marker of their own, as slow; sort the files for two or more workers.

    A worker gets a file at a time. First come tests of the compiled loops, which the processes of slow tests then find
    compiled; then files by their slow tests, so that no worker is left alone with a long one; then all others.
    """
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.slow)
    slow = Counter(item.path for item in items for name in ("slow", "spark") if item.get_closest_marker(name))

    def place(item: pytest.Item) -> tuple[int, int]:
        compiles = COMPILED.intersection(item.path.relative_to(item.config.rootpath).parts)
        return (0, 0) if compiles and not slow[item.path] else (1, -slow[item.path])

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let CI say which services must be there."""
    report = yield
    fail_if_expected(item, report)
    return report
