"""Checkpoints that are complete or absent, also after a kill and on a full disk."""

import io
from pathlib import Path
from typing import Any

import torch
from lightning_fabric.plugins.io.torch_io import TorchCheckpointIO

from sign.system.atomic_files import write_bytes, write_errors

THRESHOLDS = "thresholds"  # of the labels, in a checkpoint
LEARNED = "learned_operators"  # by letter: parameters of operators that learn, and the digest of what they learned on


class AtomicCheckpointIO(TorchCheckpointIO):
    """Write checkpoints beside their final path and rename them once they are on disk.

    Lightning's own writes to the system's temporary folder and moves the file, which copies it if that is another
    file system.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """Write a checkpoint; if that fails, the one before stays. ``storage_options`` is Lightning's, and unused."""
        content = io.BytesIO()
        torch.save(checkpoint, content)
        file = Path(path)
        with write_errors(file, "paths.output_dir"):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, content.getbuffer(), durable=True)


def add_thresholds(file: Path, thresholds: list[float]) -> None:
    """Add the thresholds that the final test chose to the checkpoint that it tested."""
    checkpoint = torch.load(file, map_location="cpu", weights_only=True)
    AtomicCheckpointIO().save_checkpoint(checkpoint | {THRESHOLDS: thresholds}, file)
