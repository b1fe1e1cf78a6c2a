"""The key of a stored hop: a stable name and all fields, and for classes outside ``sign`` their source."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from common.graphs import dense, dense_undirected, graphs, inverse
from hypothesis import given

from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.directed import DirectedAdjacency
from sign.operators.heat import HeatKernel
from sign.operators.laplacian import Laplacian
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.triangle import TriangleAdjacency

CODE = """
from dataclasses import dataclass
from sign.operators.base import Operator

@dataclass(frozen=True)
class Mine(Operator):
    factor: float = 1.0

    def matrix(self, graph):
        return None
"""


def module_of(file: Path, code: str) -> ModuleType:
    """Import a file that a user wrote."""
    file.write_text(code)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    sys.modules[file.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _forget_modules():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("user_"):
            del sys.modules[name]


def test_a_key_is_the_name_and_the_fields() -> None:
    assert NormalizedAdjacency("row").describe() == {
        "name": "adjacency",
        "normalization": "row",
        "drop_edges": 0.0,
        "drop_seed": 0,
    }


def test_moving_or_renaming_a_class_does_not_change_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before, kind = PersonalizedPageRank().describe(), PersonalizedPageRank
    monkeypatch.setattr(kind, "__module__", "sign.operators.elsewhere")
    kind.__name__ = "Renamed"
    try:
        assert kind().describe() == before
    finally:
        kind.__name__ = "PersonalizedPageRank"


def test_a_class_of_the_user_is_known_by_its_class_name_and_its_source(tmp_path: Path) -> None:
    mine = module_of(tmp_path / "user_one.py", CODE).Mine()
    description = mine.describe()
    assert (description["name"], description["factor"]) == ("Mine", 1.0)
    same = module_of(tmp_path / "user_moved.py", CODE).Mine()
    assert same.describe() == description
    changed = module_of(tmp_path / "user_changed.py", CODE.replace("return None", "return 0")).Mine()
    assert changed.describe()["source"] != description["source"]


def test_classes_of_the_user_cannot_share_a_key(tmp_path: Path) -> None:
    named = CODE.replace("    factor", '    name = "adjacency"\n    factor')
    other = named.split("@dataclass")[1].replace("Mine", "Yours")
    module = module_of(tmp_path / "user_two.py", f"{named}\n@dataclass{other}")
    mine, yours = module.Mine(), module.Yours()
    assert mine.name == yours.name == NormalizedAdjacency.name
    keys = [operator.describe() for operator in (mine, yours, NormalizedAdjacency())]
    assert len({str(sorted(key.items(), key=str)) for key in keys}) == 3


SCALED: list[Operator] = [
    *(NormalizedAdjacency(name) for name in ("gcn", "symmetric", "row", "column")),
    *(DirectedAdjacency(transposed) for transposed in (False, True)),
    *(PersonalizedPageRank(alpha=0.5), HeatKernel(), Laplacian(), TriangleAdjacency()),
]


@pytest.mark.parametrize("operator", SCALED, ids=lambda operator: f"{operator}"[:40])
def test_scaled_edges_describe_the_matrix(operator: Operator) -> None:
    @given(graph=graphs())
    def check(graph: Graph) -> None:
        edges, simple, scaled = dense_undirected(graph), dense(graph), operator.scaled_edges
        off_diagonal = 1 - np.eye(graph.nodes)
        simple, plain = simple * off_diagonal, (edges > 0) * off_diagonal
        named = {"undirected": edges, "out": simple, "in": simple.T, "triangles": edges * plain * (plain @ plain)}
        matrix = named[scaled.edges] + scaled.self_loop * np.eye(graph.nodes)
        sums = matrix.sum(axis=1)
        left, right = (
            np.diag(inverse(sums, power) if power else np.ones(len(sums))) for power in (scaled.left, scaled.right)
        )
        expected = left @ matrix @ right
        np.testing.assert_allclose(operator.matrix(graph).to_scipy().toarray(), expected, rtol=1e-5, atol=1e-7)

    check()


def test_a_matrix_of_its_own_or_dropped_edges_are_not_described() -> None:
    class Other(NormalizedAdjacency):
        def matrix(self, graph: Graph) -> Matrix:
            return Matrix(graph.undirected)

    every = (Other(), NormalizedAdjacency(drop_edges=0.5), PersonalizedPageRank("push"), TriangleAdjacency(True))
    assert [operator.scaled_edges for operator in every] == [None] * 4


def test_a_subclass_does_not_inherit_the_name() -> None:
    class Other(NormalizedAdjacency):
        pass

    assert Other.name == "Other"
    assert issubclass(Other, Operator)
