"""Scratch arrays belong to a thread, and are cleared after use."""

import threading

import numpy as np
import pytest

from sign.baselines.samplers.scratch import Scratch, distinct, is_marked, mark


def test_each_thread_has_its_own_arrays() -> None:
    scratch = Scratch(3)
    assert scratch.arrays() is scratch.arrays()
    assert scratch.arrays().numbers.tolist() == [-1, -1, -1]
    others = []
    thread = threading.Thread(target=lambda: others.append(scratch.arrays()))
    thread.start()
    thread.join()
    assert others[0].numbers is not scratch.arrays().numbers


def test_a_mark_is_the_bit_of_one_node() -> None:
    bits = Scratch(200).arrays().bits
    for node in (0, 63, 64, 199):
        mark(bits, node)
    assert [node for node in range(200) if is_marked(bits, node)] == [0, 63, 64, 199]


@pytest.mark.parametrize("nodes", [1, 63, 64, 65, 1000])
def test_distinct_nodes_are_sorted(nodes: int) -> None:
    bits = Scratch(nodes).arrays().bits
    drawn = np.random.default_rng(0).integers(0, nodes, 300)
    np.testing.assert_array_equal(distinct(drawn, bits), np.unique(drawn))
    assert not bits.any()
