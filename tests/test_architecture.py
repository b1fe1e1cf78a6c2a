"""A training run calls packages in one direction: traced, function by function."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from common.paths import REPOSITORY

from sign.config.configure import compose, configure
from sign.experiments.run import run

PACKAGE = REPOSITORY / "src" / "sign"
# What each package is called by in a run, besides its own functions.
CALLERS = {
    "training": {"experiments"},
    "tracking": {"experiments"},
    "models": {"training", "experiments"},  # the check of the data asks whether a batch needs two rows
    "diffusion": {"training", "experiments", "engines"},  # engines read features that are scaled block by block
    "datasets": {"diffusion", "experiments"},  # run.json records the digest of the user's own files
    "store": {"diffusion"},
    "engines": {"diffusion", "operators", "training"},  # operators use its product, training keeps to its memory
    "operators": {"diffusion", "engines"},
}


def package_of(frame: FrameType | None) -> str | None:
    """The package of the innermost function of sign in a stack; None while a module is imported."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if "importlib" in frame.f_code.co_filename:
            return None
        if path.is_relative_to(PACKAGE):
            return path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        frame = frame.f_back
    return None


@pytest.mark.slow
def test_a_run_calls_each_package_from_where_the_architecture_page_says(tmp_path: Path) -> None:
    overrides = ("dataset=cora", "model.p=2", "model.t=1", "logger=csv", "training.max_epochs=1")
    folders = (f"paths.store_dir={tmp_path}/store", f"paths.output_dir={tmp_path}/outputs")
    settings = configure(compose(*overrides, *folders))
    calls: set[tuple[str, str]] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and str(PACKAGE) in frame.f_code.co_filename:
            caller, callee = package_of(frame.f_back), package_of(frame)
            if caller == "config" and Path(frame.f_code.co_filename).name in ("settings.py", "architecture.py"):
                return  # settings check their fields and do no work
            if caller and callee and caller != callee:
                calls.add((caller, callee))

    previous = sys.getprofile()
    sys.setprofile(record)
    try:
        run(settings)
    finally:
        sys.setprofile(previous)
    assert {("experiments", "training"), ("training", "diffusion"), ("diffusion", "store")} <= calls
    for callee, callers in CALLERS.items():
        # the console formats log records, whose arguments may be objects of any package
        assert {caller for caller, other in calls if other == callee} <= callers | {"system"}, callee
