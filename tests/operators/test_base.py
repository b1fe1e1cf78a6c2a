"""The key of a stored hop: a stable name and all fields, and for classes outside ``sign`` their source."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.ppr import PersonalizedPageRank

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


def test_a_subclass_does_not_inherit_the_name() -> None:
    class Other(NormalizedAdjacency):
        pass

    assert Other.name == "Other"
    assert issubclass(Other, Operator)
