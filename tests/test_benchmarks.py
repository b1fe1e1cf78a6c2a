"""The comparisons with peers still run, on small graphs; nothing is timed here."""

from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.table import Table

from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.synthetic.communities import Communities
from sign.graph.csr import CSR
from sign.graph.features import SparseFeatures
from sign.operators.adjacency import NormalizedAdjacency

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SMALL = Communities(nodes=300, edges=1200, features=7)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of the peers


@pytest.fixture(autouse=True)
def siblings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks import each other, as they do when they are run."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def benchmark(name: str) -> Any:
    loader = SourceFileLoader(f"benchmark_{name}", str(BENCHMARKS / f"{name}.py"))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def column(table: Table, name: str) -> list[Any]:
    return next(list(column.cells) for column in table.columns if column.header == name)


def test_operators() -> None:
    operators = benchmark("operators")
    graph = SMALL.load()
    words = SparseFeatures(np.arange(301), np.arange(300) % 7, 7)
    walking, counting = (Table(*("graph", "size", "α / ε", "entries", "same")), Table("graph", "size", "triangles"))
    for each in (graph, replace(graph, features=words)):
        operators.ppr(each, 0.1, 1e-2, 1, walking)
        operators.count(each, 1, counting)
    assert column(walking, "same") == ["yes", "yes"]
    adjacency = graph.undirected.to_scipy().toarray()
    triangles = int(np.trace(np.linalg.matrix_power(adjacency, 3))) // 6
    assert column(counting, "triangles") == [f"{triangles:,}"] * 2


def test_diffusion(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    diffusion = benchmark("diffusion")
    monkeypatch.setattr(diffusion, "ROUNDS", 1)
    assert diffusion.save(SMALL, tmp_path) == (2400, 7)
    fastest = diffusion.race(["ours", "torch", "scipy", "pyg"], tmp_path)
    assert {name: set(tasks) for name, tasks in fastest.items()} == {
        "ours": {"product", "two_hops"},
        "torch": {"product"},
        "scipy": {"product", "two_hops"},
        "pyg": {"two_hops"},
    }


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    defaults = benchmark("defaults")
    source = ["dataset=communities", "dataset.nodes=300", "dataset.edges=1200", "dataset.features=7"]
    monkeypatch.setitem(defaults.SOURCES, "small", (source, True))
    options = SimpleNamespace(folder=tmp_path, data_dir=tmp_path, limit=2, trials=1)
    small = defaults.Bench("small", options)
    assert small.profile.training_rows == len(SMALL.load().train)
    best, _ = small.search()
    metrics = small.measure("mlp", {}, seed=0)
    assert len(small.finished) == 2
    monkeypatch.setattr(defaults, "run", None)  # a second command finds all runs
    again = defaults.Bench("small", options)
    assert again.search()[0] == best
    assert again.measure("mlp", {}, seed=0) == metrics


def test_heads() -> None:
    heads = benchmark("heads")
    options = SimpleNamespace(power=1, batch=32, steps=1, rounds=1)
    built = {head: heads.step_of(head, 8, options) for head in heads.HEADS}
    assert built["hoga"][1] == built["hoga, 8 heads"][1] > built["gpr"][1]  # parameters
    measured = heads.ratios({head: step for head, (step, _) in built.items()}, options)
    assert measured.keys() == heads.HEADS.keys()
    assert measured["sign"][1] == 1


def test_out_of_core(tmp_path: Path) -> None:
    out_of_core = benchmark("out_of_core")
    options = SimpleNamespace(rows=500, hops=3, features=7, units=4, batch=64, epochs=2, share=1e5, patience=60)
    out_of_core.write(tmp_path, options)
    rows = out_of_core.MappedRows(tmp_path)
    index = np.array([3, 1, 499])
    assert rows[index][0].shape == (3, 21)
    assert np.array_equal(rows[index][0][:, 14:], np.load(tmp_path / "hop2.npy")[index])
    for name in out_of_core.CONTENDERS:
        out_of_core.drop_from_cache(tmp_path)
        result = out_of_core.contend(name, tmp_path, options)
        assert len(result["seconds"]) == (2 if name in ("in memory", "row file") else 1)
        assert result["share"] == 1


def test_a_control_group_is_removed() -> None:
    with benchmark("out_of_core").control_group(1 << 30) as group:
        assert group is None or group.is_dir()  # not every process may make one
    assert group is None or not group.exists()


def test_samplers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    samplers = benchmark("samplers")
    for name, size in {"BATCHES": 2, "BATCH": 50, "CLUSTERS_PER_BATCH": 2, "NODES_DRAWN": 40, "ROOTS": 20}.items():
        monkeypatch.setattr(samplers, name, size)
    matrix = CSR.from_scipy(NormalizedAdjacency("row").matrix(SMALL.load()).to_scipy())
    table = samplers.race(matrix, np.arange(300) % 10, rounds=1, dgl_python=None, folder=tmp_path)
    assert column(table, "sampler") == [
        *("neighbour", "fastgcn", "asgcn", "vrgcn", "cluster", "saint-node", "saint-edge", "saint-walk", "node2vec")
    ]
    compared = [cell.replace(",", "") for name in ("ours, edges/s", "numpy, edges/s") for cell in column(table, name)]
    assert all(float(cell) >= 0 for cell in compared)  # any number: a process that had to wait is slow


def test_spark_tables_are_a_graph(tmp_path: Path) -> None:
    spark = pytest.importorskip("pyspark") and benchmark("spark")
    tables = spark.write_tables(tmp_path, 4000)
    graph = Parquet(edges=tables["edges"], nodes=tables["nodes"], name="drawn").load()
    assert (graph.nodes, graph.features.shape) == (400, (400, 16))
    assert 3900 < graph.edges <= 4000
