"""Rows and batches on a GPU: what is held there, and copies that overlap the computation."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import cuda

from sign.models.architecture import Architecture
from sign.training.batch import Batch
from sign.training.distributed import current_rank
from sign.training.ranks import uses_gpu
from sign.training.read_ahead import read_ahead
from sign.training.settings import Device, Training

AUTOCAST = {"16-mixed": torch.float16, "bf16-mixed": torch.bfloat16}  # what products read in mixed precision


def training_device(device: Device) -> torch.device:
    """The CUDA device of this rank, or the CPU, from which Lightning copies batches to other devices."""
    return torch.device("cuda", current_rank(device).local_rank) if uses_gpu(device) else torch.device("cpu")


def takes_sparse_hops(architecture: Architecture, training: Training, device: Device) -> bool:
    """Whether hops may stay sparse: the network takes them, runs on a CPU and is not compiled."""
    on_gpu = device.accelerator != "cpu" and (cuda.is_available() or torch.backends.mps.is_available())
    return architecture.takes_sparse_hops and not (on_gpu or device.compile or training.label_dropout)


def resident_dtype(precision: str, stored: str, scaling: str) -> torch.dtype:
    """The type in which rows are held on a device: the narrowest one that changes no product.

    Mixed precision rounds rows before the first product in any case, and hops of the store are exact in its type until
    they are scaled.
    """
    if precision in AUTOCAST:
        return AUTOCAST[precision]
    return torch.float16 if stored == "float16" and scaling == "none" else torch.float32


def copied_ahead(batches: Iterator[Batch], count: int, device: torch.device) -> Iterator[Batch]:
    """Copy batches to a GPU, on a stream of its own, while the network trains on the one before.

    A thread gathers the rows in pinned memory. The host waits for no copy: the stream of the computation waits for the
    event that ends the copy of its batch.
    """
    stream = cuda.Stream(device)  # type: ignore[no-untyped-call]
    following: tuple[Batch, cuda.Event] | None = None
    for pinned in read_ahead(lambda _: _pinned(next(batches)), range(count)):
        parts: tuple[Any, Any] = pinned.rows, pinned.labels
        with cuda.stream(stream):
            rows, labels = (tensor.to(device, non_blocking=True) for tensor in parts)
            copied = Batch(rows, labels, pinned.total), stream.record_event()
        if following:
            yield _ready(*following)
        following = copied
    if following:
        yield _ready(*following)


def _pinned(batch: Batch) -> Batch:
    rows: Any = batch.rows  # hops stay sparse on a CPU only
    return Batch(rows.pin_memory(), batch.labels.pin_memory(), batch.total)


def _ready(batch: Batch, event: cuda.Event) -> Batch:
    """Let the computation wait for a copy, whose memory is not reused before the computation is done."""
    rows: Any = batch.rows
    current = cuda.current_stream(rows.device)
    current.wait_event(event)
    rows.record_stream(current)
    batch.labels.record_stream(current)
    return batch


def free_bytes(device: torch.device) -> int | None:
    """The free memory of a GPU; None for the CPU."""
    return cuda.mem_get_info(device)[0] if device.type == "cuda" else None
