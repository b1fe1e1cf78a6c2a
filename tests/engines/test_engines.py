"""Every engine passes the shared suite, and all engines agree. (Spark's run of it is in spark/test_engine.py.)"""

from pathlib import Path

import numpy as np
import pytest
from common import engine_suite
from common.engine_suite import CHECKS, Check

from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.errors import FieldError
from sign.graph.matrix import Matrix

ENGINES = [LocalEngine(), LocalEngine(threads=1), TorchEngine()]


@pytest.mark.parametrize("engine", ENGINES, ids=repr)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_engine_passes_the_suite(check: Check, engine: Engine, tmp_path: Path) -> None:
    check(engine, tmp_path, 25)


def test_no_check_of_the_suite_is_left_out() -> None:
    defined = [
        value for value in vars(engine_suite).values() if callable(value) and value.__module__ == engine_suite.__name__
    ]
    assert defined == CHECKS


def test_engines_agree() -> None:
    graph = Communities(nodes=2000, edges=20000).load()
    scale = np.linspace(0.1, 1, 2000, dtype=np.float32)
    matrix = Matrix(graph.adjacency, left=scale, right=scale, self_loop=1.0)
    first, *others = (engine.product(matrix, graph.features) for engine in ENGINES)
    for other in others:
        np.testing.assert_allclose(first, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", ["4 apples", "-1GB", "0MB"])
def test_an_invalid_memory_size_is_refused(size: str) -> None:
    with pytest.raises(FieldError, match="is not a size such as"):
        LocalEngine(memory=size)
