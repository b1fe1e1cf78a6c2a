"""Progress: engines advance by products, complete hops never move the bar back, and no bar is no error."""

import logging
from pathlib import Path

import pytest
from common.graphs import partly_used
from rich.progress import Progress

from sign.diffusion.precompute import diffuse
from sign.engines import progress
from sign.engines.local.engine import LocalEngine
from sign.graph.classification import classification_of
from sign.operators.ppr import PersonalizedPageRank
from sign.store.store import Store
from sign.system import console


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Progress:
    bar = Progress(disable=True)
    monkeypatch.setattr(progress, "progress", lambda: bar)
    return bar


def test_complete_hops_never_move_the_bar_back(bar: Progress) -> None:
    with progress.progress_bar("diffusion", 4):
        progress.advance(1.5)
        progress.reach(1, "p")
        assert (bar.tasks[0].completed, bar.tasks[0].description) == (1.5, "p")
        progress.reach(2, "s")
        assert bar.tasks[0].completed == 2
    progress.advance(1)
    assert bar.tasks[0].completed == 2


def test_the_bar_moves_with_every_product_of_a_power(
    bar: Progress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    product = LocalEngine.product

    def watched(*arguments, **options):
        seen.append(bar.tasks[0].completed)
        return product(*arguments, **options)

    monkeypatch.setattr(LocalEngine, "product", watched)
    operator = PersonalizedPageRank(alpha=0.05)
    diffuse(classification_of(partly_used()), {"s": (operator, 1)}, LocalEngine(), Store(str(tmp_path)))
    assert len(seen) == operator.products
    assert seen == pytest.approx([1 + n / operator.products for n in range(operator.products)])
    assert bar.tasks[0].completed == pytest.approx(2)


def test_without_a_terminal_products_are_log_lines_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sign")
    now = [1000.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with progress.progress_bar("diffusion", 5):
        progress.reach(2, "diffusion · full graph · p", found=2)
        for _ in range(4):
            now[0] += 6.0
            progress.advance(0.5)
    assert caplog.messages == [
        "diffusion · full graph · p: 3.0 of 5 hops, 0:00:24 left",
        "diffusion · full graph · p: 4.0 of 5 hops, 0:00:12 left",
    ]
