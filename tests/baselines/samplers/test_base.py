"""Targets and graphs that cannot be sampled are refused with one message."""

import numpy as np
import pytest
from common.sampling import WHEEL, row_normalized

from sign.baselines.samplers.neighbour import NeighbourSampler
from sign.errors import SignError
from sign.graph.csr import CSR

MATRIX = row_normalized(WHEEL, 7)
EMPTY = CSR(np.zeros(4, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": np.array([0, 7])}, "targets=7: nodes are numbered 0 to 6"),
        ({"targets": np.array([-1, 2])}, "targets=-1: nodes are numbered 0 to 6"),
        ({"targets": np.array([1, 1])}, "targets: a node is listed twice"),
        ({"targets": np.array([], np.int64)}, "must be a non-empty list of nodes"),
        ({"targets": np.array([0.5])}, "must be a non-empty list of nodes"),
        ({"batch_size": 0}, "batch_size=0: must be an integer >= 1"),
        ({"seed": -1}, "seed=-1: must be an integer >= 0"),
        ({"adjacency": EMPTY}, "a graph of 3 nodes without edges cannot be sampled"),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    options = {"adjacency": MATRIX, "targets": np.arange(3), "batch_size": 2, "fanouts": [2], **changes}
    with pytest.raises(SignError, match=message):
        NeighbourSampler(**options)  # type: ignore[arg-type]


def test_an_epoch_has_every_target_once_in_a_new_order() -> None:
    sampler = NeighbourSampler(adjacency=MATRIX, targets=np.array([6, 2, 5, 0, 1]), batch_size=2, fanouts=[2])
    epochs = [[batch.nodes[-1].tolist() for batch in sampler.epoch(number)] for number in range(3)]
    for batches in epochs:
        assert [len(batch) for batch in batches] == [2, 2, 1]
        assert len(batches) == len(sampler)
        assert sorted(node for batch in batches for node in batch) == [0, 1, 2, 5, 6]
    assert epochs[0] != epochs[1] != epochs[2]
