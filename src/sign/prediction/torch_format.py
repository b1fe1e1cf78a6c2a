"""Models as programs of ``torch.export``, which torch loads without this package."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.export import Dim

from sign.prediction.scoring import Score


def save(network: nn.Module, example: Tensor, file: Path) -> None:
    """Write a network that takes any number of rows."""
    program = torch.export.export(network, (example,), dynamic_shapes=({0: Dim("batch", min=1)},))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # names files of this machine
    torch.export.save(program, file)


def load(file: Path) -> Score:
    """What a file says about a block of rows."""
    module: Score = torch.export.load(file).module()
    return module
