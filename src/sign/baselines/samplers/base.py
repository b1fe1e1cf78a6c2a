"""What samplers share: the matrix, the target nodes, and their shuffled batches."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sign.baselines.samplers.batches import Integers
from sign.baselines.samplers.parallel import in_order
from sign.baselines.samplers.scratch import Scratch
from sign.baselines.samplers.streams import stream
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array
from sign.validation import Count, Seed, Validated

Batch = TypeVar("Batch")


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampler(Validated):
    """A sampler of the entries of a square matrix.

    ``adjacency`` is the matrix, and ``targets`` are the nodes that have a loss, each once.
    """

    adjacency: CSR
    targets: Array
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_edges_exist(self.adjacency)
        if self.targets.dtype.kind not in "iu" or self.targets.ndim != 1 or not len(self.targets):
            raise FieldError("targets", self.targets, "must be a non-empty list of nodes")
        low, high = int(self.targets.min()), int(self.targets.max())
        if low < 0 or high >= self.adjacency.nodes:
            rule = f"nodes are numbered 0 to {self.adjacency.nodes - 1}"
            raise FieldError("targets", low if low < 0 else high, rule)
        if len(np.unique(self.targets)) < len(self.targets):
            raise SignError("targets: a node is listed twice; list each node once")

    @cached_property
    def scratch(self) -> Scratch:
        """Arrays in which kernels number the nodes of a batch."""
        return Scratch(self.adjacency.nodes)

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Whether each node is a target."""
        mask = np.zeros(self.adjacency.nodes, np.bool_)
        mask[self.targets] = True
        return mask


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetSampler(Sampler, ABC, Generic[Batch]):
    """A sampler whose batches start from ``batch_size`` target nodes; an epoch has every target once."""

    batch_size: Count

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return -(-len(self.targets) // self.batch_size)

    @abstractmethod
    def sample(self, targets: Integers, key: np.uint64) -> Batch:
        """Return the batch of some distinct nodes, drawn from the stream ``key``."""

    def epoch(self, number: int, threads: int | None = None) -> Iterator[Batch]:
        """Iterate over the batches of an epoch, in which the targets are shuffled anew."""
        order = np.random.default_rng([self.seed, number]).permutation(self.targets).astype(np.int64)

        def batch(i: int) -> Batch:
            part = order[i * self.batch_size : (i + 1) * self.batch_size]
            return self.sample(part, stream(self.seed, number, i))

        return in_order(batch, range(len(self)), threads)


def check_edges_exist(adjacency: CSR) -> None:
    """Raise :class:`SignError` for a graph that has nothing to sample."""
    if not adjacency.entries:
        raise SignError(f"a graph of {adjacency.nodes:,} nodes without edges cannot be sampled; use model=mlp")
