"""What all samplers have in common: reproducible batches of plain arrays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from common.sampling import random_matrix, same

from sign.baselines.samplers.asgcn import ASGCNSampler
from sign.baselines.samplers.base import Sampler
from sign.baselines.samplers.clustergcn import ClusterSampler
from sign.baselines.samplers.fastgcn import FastGCNSampler
from sign.baselines.samplers.graphsaint import SAINTEdgeSampler, SAINTNodeSampler, SAINTWalkSampler
from sign.baselines.samplers.neighbour import NeighbourSampler
from sign.baselines.samplers.node2vec import Node2VecSampler
from sign.baselines.samplers.vrgcn import VRGCNSampler

MATRIX = random_matrix(60, 300)
SAMPLERS: dict[type[Any], dict[str, Any]] = {
    NeighbourSampler: {"batch_size": 8, "fanouts": [3, 2]},
    FastGCNSampler: {"batch_size": 8, "sizes": [6, 9]},
    ASGCNSampler: {"batch_size": 8, "sizes": [6, 9], "scores": np.linspace(-1, 2, 60)},
    VRGCNSampler: {"batch_size": 8, "fanouts": [2, 1]},
    ClusterSampler: {"clusters": np.arange(60) % 10, "clusters_per_batch": 2},
    SAINTNodeSampler: {"nodes_drawn": 10},
    SAINTEdgeSampler: {"edges_drawn": 5},
    SAINTWalkSampler: {"roots": 5, "length": 2},
    Node2VecSampler: {"batch_size": 8, "walk_length": 6, "context_size": 3, "q": 2.0},
}


def arrays(value: Any) -> Iterator[np.ndarray]:
    """Every array in a batch."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays(item)
    elif hasattr(value, "__dict__"):
        yield from arrays(tuple(vars(value).values()))


def subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_sampler_is_tested() -> None:
    concrete = {kind for kind in subclasses(Sampler) - {Sampler} if not getattr(kind, "__abstractmethods__", None)}
    assert concrete == set(SAMPLERS)


@pytest.mark.parametrize("kind", SAMPLERS, ids=lambda kind: kind.__name__)
def test_equal_seeds_give_equal_batches_with_any_number_of_threads(kind: type[Any]) -> None:
    options = {"adjacency": MATRIX, "targets": np.arange(0, 60, 2), **SAMPLERS[kind]}
    sampler = kind(**options, seed=1)
    batches = list(sampler.epoch(4, threads=1))
    assert len(batches) == len(sampler)
    assert same(batches, list(sampler.epoch(4, threads=2)))
    assert same(batches, list(kind(**options, seed=1).epoch(4)))
    for other in (sampler.epoch(5), kind(**options, seed=2).epoch(4)):
        assert not same(batches, list(other))


@pytest.mark.parametrize("kind", SAMPLERS, ids=lambda kind: kind.__name__)
def test_batches_are_plain_arrays(kind: type[Any]) -> None:
    sampler = kind(adjacency=MATRIX, targets=np.arange(60, dtype=np.int32), **SAMPLERS[kind])
    for batch in sampler.epoch(0):
        assert {array.dtype for array in arrays(batch)} <= {np.dtype(kind) for kind in ("i8", "f4", "f8")}
