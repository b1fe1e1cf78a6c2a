"""The choices of ``debug=`` shorten, repeat or profile a run as they say."""

from collections.abc import Callable

import pytest
import torch

from sign.config.configure import compose
from sign.config.settings import Settings
from sign.experiments.run import run
from sign.runs import Run

COMMUNITIES = ("dataset=communities", "dataset.nodes=400", "dataset.edges=2000", "training.batch_size=16", "tuned=null")
GRAPH = (*COMMUNITIES, "model.p=1")


def the_run(settings: Settings) -> Run:
    run(settings)
    (folder,) = {file.parent for file in settings.output_dir.rglob("metrics.json")}
    return Run(folder)


@pytest.mark.parametrize(("choice", "steps"), [("fast", 1), ("limit", 30)])
def test_a_debug_run_has_few_batches(configured: Callable[..., Settings], choice: str, steps: int) -> None:
    finished = the_run(configured(*GRAPH, f"debug={choice}"))
    checkpoint = torch.load(finished.folder / "checkpoints" / "last.ckpt", weights_only=True)
    assert checkpoint["global_step"] == steps
    assert set(finished.metrics or ()) >= {"train/accuracy", "val/accuracy", "test/accuracy"}


def test_fast_has_no_tracker() -> None:
    assert compose("debug=fast").logger == {"_target_": "sign.tracking.base.NoTracker"}


@pytest.mark.parametrize("model", ["sign", "graphsage"])
def test_overfit_learns_one_batch_by_heart(configured: Callable[..., Settings], model: str) -> None:
    overrides = (*COMMUNITIES, f"model={model}", "debug=overfit")
    settings = configured(*overrides, "training.learning_rate=0.03", "training.max_epochs=25")
    losses = [row["train/loss"] for row in the_run(settings).epochs()]
    assert losses[-1] < 0.05 < losses[0]


def test_the_profile_says_where_the_time_went(configured: Callable[..., Settings]) -> None:
    finished = the_run(configured(*GRAPH, "debug=profiler", "training.max_epochs=1"))
    assert "run_training_batch" in (finished.folder / "fit-profile.txt").read_text()
