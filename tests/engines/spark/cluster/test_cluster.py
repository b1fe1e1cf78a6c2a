"""Packs that executors write have the hops of the local engine; what is wrong with a table is said at the driver.

One test with many parts, as a session takes long to start.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from common.parquet_tables import names_of, write_files, write_graph_tables
from common.trained import settings_of, train

from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.exported_hops import ExportedHops
from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import Powers, diffuse
from sign.engines.local.engine import LocalEngine
from sign.engines.spark import session
from sign.engines.spark.cluster.export import export_pack
from sign.engines.spark.engine import SparkEngine
from sign.errors import SignError
from sign.graph.csr import CSR
from sign.graph.csr_transforms import select_entries
from sign.graph.graph import SPLITS, Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.directed import DirectedAdjacency
from sign.operators.four_cycle import FourCycleAdjacency
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.triangle import TriangleAdjacency
from sign.prediction.cluster import predict_on_cluster
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction
from sign.store.store import Store

MISSING = None
try:
    session.check()
except SignError as error:
    MISSING = str(error)
pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]
QUICK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # tiny graphs: no time to optimise
    "spark.sql.shuffle.partitions": 2,
    "spark.ui.enabled": False,
}
ENGINE = SparkEngine(master="local[2]", blocks=3, conf=QUICK)


def a_graph(directed: bool) -> Graph:
    """Weighted, with self-loops, nodes without edges, and nodes in no split."""
    drawn = Communities(nodes=240, edges=1200, features=6, classes=3).load()
    rows, columns = drawn.adjacency.row_indices(), drawn.adjacency.indices
    keep = (rows < 220) & (columns < 220)
    if directed:
        keep &= (rows + 2 * columns) % 3 != 0
    kept = select_entries(drawn.adjacency, keep)
    rows, columns = kept.row_indices(), kept.indices
    loops = np.arange(0, 60, 7)
    weights = (1 + (rows.astype(np.int64) * columns) % 5).astype(np.float32)
    adjacency = CSR.from_edges(
        np.append(rows, loops), np.append(columns, loops), 240, np.append(weights, np.full(len(loops), 2, np.float32))
    )
    few = {split: drawn.nodes_of(split)[::3] for split in SPLITS}
    return replace(drawn, adjacency=adjacency, directed=directed, **few)


def listed_again(edges: str) -> None:
    """List some edges again with another weight, in the same direction."""
    table = pa.parquet.read_table(edges).slice(0, 40)
    doubled = pa.compute.multiply(table.column("weight"), pa.scalar(2.0, pa.float32()))
    again = table.set_column(table.column_names.index("weight"), "weight", doubled)
    pa.parquet.write_table(
        again.select(pa.parquet.read_schema(next(Path(edges).glob("*.parquet"))).names), f"{edges}/again.parquet"
    )


def local_hops(dataset: Parquet, powers: Powers, scaling: str, folder: Path) -> Hops:
    return diffuse(dataset.classification(scaling), powers, LocalEngine(), Store(str(folder)))


def assert_pack(pack: Path, dataset: Parquet, powers: Powers, scaling: str, folder: Path) -> None:
    """A pack has the labels, nodes, ids and hops of the local engine."""
    classification = ExportedHops(name="pack", path=str(pack)).classification(scaling)
    graph, own = dataset.load(), dataset.classification(scaling)
    assert (classification.classes, classification.class_names) == (own.classes, own.class_names)
    assert classification.feature_names == own.feature_names
    found = diffuse(classification, powers, LocalEngine(), Store(str(folder / "from-pack")))
    expected = local_hops(dataset, powers, scaling, folder / "local")
    assert found.names == expected.names
    for split in SPLITS:
        assert (classification.labels[split] == own.labels[split]).all()
        table = pa.parquet.read_table(pack / "rows" / f"split={split}").sort_by("node")
        assert table.column("id").to_pylist() == [graph.node_ids[node] for node in graph.nodes_of(split)]
        for number, name in enumerate(found.names):
            ours, theirs = (hops.arrays[split][number][hops.rows[split][number]] for hops in (found, expected))
            np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max(), rtol=2e-5, err_msg=name)


def weighted_and_undirected(folder: Path) -> None:
    """Text ids, edges listed several times, standardised features, polynomials."""
    graph, ids = a_graph(directed=False), names_of(240)
    tables = write_graph_tables(folder, graph, ids)
    listed_again(tables["edges"])
    dataset = Parquet(**tables, combine="mean")
    powers = {"p": (NormalizedAdjacency(), 2), "s": (PersonalizedPageRank(alpha=0.5, tolerance=0.1), 1)}
    powers["t"] = (TriangleAdjacency(), 1)
    sizes = export_pack(ENGINE, dataset, powers, "standardize", str(folder / "pack"))
    assert sizes == {split: len(graph.nodes_of(split)) for split in SPLITS}
    assert_pack(folder / "pack", dataset, powers, "standardize", folder)


def directed_and_inductive(folder: Path) -> None:
    """Integer ids, several labels, sparse features, drawn splits, two scopes."""
    drawn = a_graph(directed=True)
    labels = np.stack([drawn.labels == 0, drawn.labels > 0, np.arange(240) % 3 == 0], axis=1).astype(np.int8)
    words = np.where(drawn.features > 0.5, drawn.features, 0)
    rows = [{"indices": np.flatnonzero(row).tolist(), "values": row[row != 0].tolist()} for row in words]
    kind = pa.struct([("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))])
    ids = names_of(240, text=False)
    tables = write_graph_tables(folder, replace(drawn, labels=labels), ids, words=pa.array(rows, kind))
    dataset = Parquet(**tables, directed=True, inductive=True, ignore=["split"])
    powers = {
        "p": (NormalizedAdjacency("row"), 1),
        "d": (DirectedAdjacency(), 2),
        "f": (DirectedAdjacency(transposed=True), 1),
    }
    export_pack(ENGINE, dataset, powers, "row_sum", str(folder / "pack"))
    assert_pack(folder / "pack", dataset, powers, "row_sum", folder)
    description = json.loads((folder / "pack" / "pack.json").read_text())
    assert [scope["splits"] for scope in description["scopes"]] == [["train"], ["val", "test"]]


def predictions(folder: Path) -> None:
    """Executors score all nodes as this machine does, also one whose features are an array."""
    graph = a_graph(directed=False)
    columns = {"vector": pa.array(graph.features.tolist(), pa.list_(pa.float32()))}
    tables = write_graph_tables(folder, graph, names_of(240), **columns)
    source = [f"dataset.{name}={value}" for name, value in tables.items()]
    run = train(folder / "runs", "dataset=parquet", *source, "scaling.features=standardize", "scaling.hops=l2")
    settings, model = settings_of(run), TrainedModel.load(run)
    written = []
    for name, predict_by, engine in (("one", predict, LocalEngine()), ("many", predict_on_cluster, ENGINE)):
        prediction = Prediction(run=str(run), output=str(folder / f"{name}.parquet"), probabilities="all")
        assert predict_by(replace(settings, engine=engine), model, prediction) == 240
        written.append(pa.parquet.read_table(folder / f"{name}.parquet").sort_by("id"))
    local, spark = written
    assert spark.column_names == local.column_names
    assert spark.column("id").to_pylist() == local.column("id").to_pylist()
    for name in ("p_class0", "p_class1", "p_class2"):
        np.testing.assert_allclose(spark.column(name), local.column(name), atol=1e-5)
    wrong = Prediction(run=str(run), output=str(folder / "x.csv"))
    with pytest.raises(SignError, match=r"output=.*x.csv: executors write a folder of Parquet files"):
        predict_on_cluster(replace(settings, engine=ENGINE), model, wrong)


NODES = {"id": ["a", "b", "c"], "label": [0, 1, 0], "split": ["train", "val", "test"], "x": [1.0, 2.0, 3.0]}
EDGES = {"source": ["a", "b"], "target": ["b", "c"]}
WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        NODES,
        {"source": ["a", "x"], "target": ["b", "c"]},
        r"edges, column source: 'x' is not the id of a node; add the",
    ),
    ({**NODES, "x": [1.0, None, 3.0]}, EDGES, r"feature `x` of node `b` is nan; replace missing"),
    ({"name": ["a"], "label": [0], "x": [1.0]}, EDGES, r"nodes: has no column of ids; name it id or node"),
    ({**NODES, "id": ["a", "b", "b"]}, EDGES, r"nodes, column id: b is duplicated; ids must be unique"),
    (NODES, {"source": ["a", "b"], "target": ["b", "a"], "w": [1.0, 2.0]}, r"from `\w` to `\w` is listed with differ"),
]


def what_is_wrong_is_said_and_nothing_is_left(folder: Path) -> None:
    shared = folder / "shared"
    shared.mkdir(parents=True)
    engine, few = replace(ENGINE, path=shared.as_uri()), {"p": (NormalizedAdjacency(), 1)}
    for number, (nodes, edges, message) in enumerate(WRONG):
        own = folder / str(number)
        tables = {"nodes": write_files(own / "nodes", nodes, 1), "edges": write_files(own / "edges", edges, 1)}
        dataset = Parquet(**{name: str(path) for name, path in tables.items()})
        with pytest.raises(SignError, match=message):
            export_pack(engine, dataset, few, "none", str(own / "pack"))
        assert sorted(path.name for path in own.iterdir()) == ["edges", "nodes"]
        assert not list(shared.iterdir())
    absent = replace(dataset, edges=(folder / "absent").as_uri(), name="x")
    with pytest.raises(SignError, match=r"dataset.edges=file:.*absent: cannot be read as Parquet files"):
        export_pack(engine, replace(absent, nodes=str(folder / "0" / "nodes")), few, "none", str(folder / "pack"))
    with pytest.raises(SignError, match=r"four_cycle is not computed on a graph that stays on the cluster"):
        export_pack(engine, dataset, {"q": (FourCycleAdjacency(), 1)}, "none", str(folder / "pack"))
    with pytest.raises(SignError, match=r"path=.*nodes: is not empty; choose a new folder"):
        export_pack(engine, dataset, few, "none", str(folder / "0" / "nodes"))


def test_graphs_that_stay_on_the_cluster(subtests: Any, tmp_path: Path) -> None:
    for part in (
        weighted_and_undirected,
        directed_and_inductive,
        predictions,
        what_is_wrong_is_said_and_nothing_is_left,
    ):
        with subtests.test(part.__name__):
            folder = tmp_path / part.__name__
            folder.mkdir()
            part(folder)
    assert not [folder for folder in tmp_path.rglob("sign-*") if re.fullmatch("sign-[0-9a-f]{12}", folder.name)]
