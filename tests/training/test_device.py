"""Training on a GPU, without one: nothing waits for the device in a step, and copies overlap the computation."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from sign.training import device as device_module
from sign.training.batch import Batch
from sign.training.device import copied_ahead, resident_dtype
from sign.training.hop_rows import HopRows
from sign.training.metrics import SplitMetrics, compared_counts
from sign.training.rows import RowLoader, Rows

META = torch.device("meta")  # has shapes but no values: whatever needs a value on the host raises
WAITING = ("aten::_local_scalar_dense", "aten::nonzero", "aten::item")  # operations that wait for a device


def source(rows: int = 100, dtype: str = "float32") -> HopRows:
    rng = np.random.default_rng(0)
    return HopRows([rng.random((rows, 5)).astype(dtype), rng.random((rows, 3)).astype(dtype)], [np.arange(rows)] * 2)


def steps(loader: RowLoader, multilabel: bool, classes: int | None = None) -> SplitMetrics:
    """What a training step does with each batch, besides the optimiser."""
    metrics = SplitMetrics(multilabel, classes)
    network = torch.nn.Linear(8, 4).to(loader.device)
    for batch in loader:
        logits = network(batch.rows)
        if multilabel:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
        else:
            loss = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum")
        (loss * (1 / batch.total)).backward()
        metrics.update(loss, logits, batch.labels)
    return metrics


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("classes", [None, 4], ids=["training", "evaluation"])
def test_no_step_waits_for_the_device(multilabel: bool, classes: int | None) -> None:
    labels = torch.zeros(100, 4) if multilabel else torch.zeros(100, dtype=torch.int64)
    rows = Rows.load(source(), META, torch.float16)
    order = (lambda: torch.randperm(100)) if classes is None else None
    metrics = steps(RowLoader(rows, labels, 30, order, device=META), multilabel, classes)
    assert metrics.rows == 100
    assert torch.as_tensor(metrics.loss).device == META


@pytest.mark.parametrize("batches", [2, 10])
def test_a_step_takes_two_gathers_and_no_copy(batches: int) -> None:
    order, labels = torch.arange(100), torch.zeros(100, dtype=torch.int64)
    loader = RowLoader(Rows.load(source()), labels, 100 // batches, lambda: order)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        assert len(list(loader)) == batches
    counts = {event.key: event.count for event in profiled.key_averages()}
    assert counts["aten::index_select"] == 2 * batches  # rows and labels
    assert not counts.get("aten::copy_", 0)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        steps(loader, multilabel=False)
    assert not {event.key for event in profiled.key_averages()} & set(WAITING)


def test_counts_are_the_same_on_any_device() -> None:
    logits, labels = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)), torch.arange(50) % 3
    expected = SplitMetrics(multilabel=False, classes=4)._count(logits, labels)
    assert torch.equal(compared_counts(logits.argmax(1), labels, 4), expected)


@pytest.mark.parametrize(
    ("precision", "stored", "scaling", "dtype"),
    [
        ("32-true", "float32", "none", torch.float32),
        ("32-true", "float16", "none", torch.float16),
        ("32-true", "float16", "l2", torch.float32),
        ("16-mixed", "float32", "l2", torch.float16),
        ("bf16-mixed", "float16", "none", torch.bfloat16),
    ],
)
def test_rows_are_held_in_the_narrowest_exact_type(
    precision: str, stored: str, scaling: str, dtype: torch.dtype
) -> None:
    assert resident_dtype(precision, stored, scaling) == dtype
    rows = Rows.load(source(dtype=stored), dtype=dtype)
    assert rows.matrix.dtype == dtype
    assert rows[torch.tensor([1, 2])].dtype == torch.float32
    if dtype == torch.float16 and precision == "32-true":
        assert torch.equal(rows[slice(None)], source(dtype=stored)[slice(None)])


class FakeTensor:
    """A tensor that records what is done with it."""

    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name, self.device = log, name, "cuda"

    def pin_memory(self) -> "FakeTensor":
        return FakeTensor(self.log, f"pinned {self.name}")

    def to(self, device: str, non_blocking: bool) -> "FakeTensor":
        self.log.append(f"copy {self.name}{'' if non_blocking else ', blocking'}")
        return self

    def record_stream(self, stream: Any) -> None:
        self.log.append(f"keep {self.name}")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_next_batch_is_copied_before_the_present_one_is_used(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    events = iter(range(count))

    class Stream:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

        def record_event(self) -> int:
            return next(events)

        def wait_event(self, event: int) -> None:
            log.append(f"wait {event}")

    names: dict[str, Callable[..., Any]] = {"Stream": lambda _: Stream(), "stream": lambda stream: stream}
    monkeypatch.setattr(device_module, "cuda", SimpleNamespace(**names, current_stream=lambda _: Stream()))

    def batches() -> Iterator[Batch]:
        for number in range(count):
            yield Batch(FakeTensor(log, f"rows {number}"), FakeTensor(log, f"labels {number}"), 1)  # type: ignore[arg-type]

    for number, _ in enumerate(copied_ahead(batches(), count, torch.device("cpu"))):
        log.append(f"train {number}")
    assert not [line for line in log if "blocking" in line]
    expected = [f"copy pinned {kind} {number}" for number in range(count) for kind in ("rows", "labels")]
    assert [line for line in log if line.startswith("copy")] == expected
    for number in range(count):
        trained = log.index(f"train {number}")
        assert log.index(f"wait {number}") < trained
        assert log.index(f"keep pinned rows {number}") < trained
        if number + 1 < count:
            assert log.index(f"copy pinned rows {number + 1}") < trained
