"""The loop over powers: rounding, wanted powers, arrays that take turns, and blocks of columns."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Diffusion
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import as_stored, by_products, powers
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Product
from sign.operators.heat import HeatKernel
from sign.operators.ppr import PersonalizedPageRank
from sign.system import memory

ENGINE = LocalEngine(threads=1)


def diffusion_of(operator: NormalizedAdjacency, **fields: object) -> Diffusion:
    graph = Communities(nodes=300, edges=1000, features=24).load()
    rows = dict.fromkeys((1, 2, 3))
    return replace(Diffusion(operator, operator.matrix(graph), graph.features, rows, {1, 2, 3}), **fields)


def columns_of(diffusion: Diffusion) -> Floats:
    return np.array(diffusion.x, np.float32)


def test_powers_are_repeated_products() -> None:
    diffusion = diffusion_of(NormalizedAdjacency())
    x = columns_of(diffusion)
    for power, result in powers(diffusion, columns_of(diffusion), ENGINE.product):
        x = ENGINE.product(diffusion.matrix, x)
        assert (result == x).all(), power


@pytest.mark.parametrize("operator", [NormalizedAdjacency(), PersonalizedPageRank(alpha=0.5), HeatKernel()])
def test_overwriting_changes_no_bit_and_keeping_leaves_the_features(operator: NormalizedAdjacency) -> None:
    diffusion = diffusion_of(operator)
    x = columns_of(diffusion)
    kept = dict(powers(diffusion, x, ENGINE.product))
    assert (x == diffusion.x).all()
    for power, result in powers(diffusion, columns_of(diffusion), ENGINE.product, overwrite=True):
        assert (result == kept[power]).all()


def test_two_arrays_take_turns_where_a_power_is_one_product() -> None:
    diffusion = diffusion_of(NormalizedAdjacency())
    x = columns_of(diffusion)
    arrays = [result for _, result in powers(diffusion, x, ENGINE.product, overwrite=True)]
    assert arrays[1] is x
    assert arrays[2] is arrays[0]


def test_only_wanted_powers_are_yielded() -> None:
    diffusion = diffusion_of(NormalizedAdjacency(), wanted={1, 3})
    assert [power for power, _ in powers(diffusion, columns_of(diffusion), ENGINE.product)] == [1, 3]


def test_each_power_is_rounded_before_the_next() -> None:
    diffusion = diffusion_of(NormalizedAdjacency(), dtype="float16")
    x = columns_of(diffusion)
    for _, result in powers(diffusion, columns_of(diffusion), ENGINE.product):
        x = ENGINE.product(diffusion.matrix, x)
        assert (result == x).all()
        x = as_stored(x, "float16").astype(np.float32)


def test_an_operator_that_changes_the_shape_is_refused() -> None:
    @dataclass(frozen=True)
    class Narrow(NormalizedAdjacency):
        def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
            return product(matrix, x)[:, 1:]

    diffusion = diffusion_of(Narrow())
    with pytest.raises(SignError, match=r"Narrow.*must keep the shape"):
        next(powers(diffusion, columns_of(diffusion), ENGINE.product))


def test_column_blocks_follow_the_memory_and_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    used = np.arange(0, 300, 4)
    diffusion = diffusion_of(PersonalizedPageRank(alpha=0.5), used=used)
    expected = dict(powers(diffusion, columns_of(diffusion), ENGINE.product))
    monkeypatch.setattr(memory, "remaining", lambda: 4 * 300 * 6 * 6)  # five columns and a margin
    blocks = [replace_values(block) for block in by_products(ENGINE, diffusion)]
    assert sorted({block.columns.start for block in blocks}) == [0, 5, 10, 15, 20]
    for block in blocks:
        assert (block.values == expected[block.power][used][block.rows, block.columns]).all()


def replace_values(block):
    return block._replace(values=block.values.copy())
