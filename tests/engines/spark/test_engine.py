"""Spark: the shared suite and every operator by both plans on an embedded master, and what only a cluster shows.

Each of the two masters is one test with many parts, as a session takes long to start and a process has one.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from common.engine_suite import CHECKS
from common.operators import shipped_operators

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.engines.base import Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.spark import session
from sign.engines.spark.engine import SparkEngine
from sign.errors import FieldError, SignError
from sign.graph.classification import classification_of
from sign.graph.csr import Floats
from sign.graph.csr_transforms import select_entries
from sign.graph.edge_data import TimedEdges
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.attention import Attention
from sign.operators.base import Operator, Product
from sign.operators.chebyshev_basis import ChebyshevBasis
from sign.operators.clique import CliqueAdjacency
from sign.operators.directed import DirectedAdjacency
from sign.operators.four_cycle import FourCycleAdjacency
from sign.operators.gaussian import GaussianKernel
from sign.operators.heat import HeatKernel
from sign.operators.jacobi import JacobiBasis
from sign.operators.laplacian import Laplacian
from sign.operators.non_backtracking import NonBacktrackingWalks
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.temporal import TemporalMotifs
from sign.operators.triangle import TriangleAdjacency
from sign.store.store import Store

MISSING = None
try:
    session.check()
except SignError as error:
    MISSING = str(error)
needs_spark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
pytestmark = pytest.mark.spark
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss2m"


@dataclass(frozen=True)
class Own(Operator):
    """An operator of the user's own, which executors cannot import and of which no polynomial is known."""

    factor: float = 0.5

    def matrix(self, graph: Graph) -> Matrix:
        return Matrix(graph.undirected, self_loop=1.0)

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        return np.maximum(product(matrix, self.factor * product(matrix, x)), 0)


@dataclass(frozen=True)
class Faint(Operator):
    """An operator whose results are far smaller than the features."""

    def matrix(self, graph: Graph) -> Matrix:
        return Matrix(graph.undirected, left=np.full(graph.nodes, 1e-9, np.float32))


OPERATORS: dict[str, Operator] = {
    "p": NormalizedAdjacency(),
    "s": PersonalizedPageRank(alpha=0.5, tolerance=0.1),
    "g": PersonalizedPageRank("push", alpha=0.5, epsilon=0.01),
    "t": TriangleAdjacency(),
    "d": DirectedAdjacency(),
    "f": DirectedAdjacency(transposed=True),
    "l": Laplacian(),
    "h": HeatKernel(time=0.5, tolerance=0.02),
    "c": CliqueAdjacency(),
    "q": FourCycleAdjacency(),
    "n": NonBacktrackingWalks(),
    "a": Attention(sample=40, epochs=1),
    "k": GaussianKernel(),
    "m": TemporalMotifs("triangle", window=50.0),
    "o": Own(),
}


def a_graph() -> Graph:
    """Directed, with self-loops, rows that no split uses, and nodes without edges."""
    drawn = Communities(nodes=240, edges=1500, features=20, classes=4).load()
    keep = (drawn.adjacency.row_indices() + drawn.adjacency.indices) % 3 != 0
    keep &= (drawn.adjacency.row_indices() < 220) & (drawn.adjacency.indices < 220)
    few = {split: drawn.nodes_of(split)[::5] for split in ("train", "val", "test")}
    adjacency = select_entries(drawn.adjacency, keep)
    edge_features = np.random.default_rng(0).random((adjacency.entries, 2), np.float32)
    times = np.arange(adjacency.entries) % 97.0
    timed = TimedEdges.from_edges(adjacency.row_indices(), adjacency.indices, times, 240, both=False)
    data = {"edge_features": edge_features, "edge_times": timed}
    return replace(drawn, adjacency=adjacency, directed=True, **data, **few)


def hops_of(engine: Engine, folder: Path, operators: dict[str, Operator], **store: Any) -> Hops:
    powers = {letter: (operator, 2 if letter in "psbj" else 1) for letter, operator in operators.items()}
    return diffuse(classification_of(a_graph()), powers, engine, Store(str(folder), **store))


def assert_same(found: Hops, expected: Hops, tolerance: float = 2e-5) -> None:
    assert found.names == expected.names
    for name, ours, theirs in zip(found.names, found.arrays["train"], expected.arrays["train"], strict=True):
        assert ours.shape == theirs.shape
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, atol=tolerance * scale, rtol=tolerance, err_msg=name)


RECURRENT: dict[str, Operator] = {"b": ChebyshevBasis(), "j": JacobiBasis()}  # whose powers need the two before


def everything_passes(engine: SparkEngine, subtests: Any, tmp_path: Path) -> None:
    """The shared suite with few random graphs, and every operator."""
    for check in CHECKS:
        with subtests.test(f"{engine.plan}: {check.__name__}"):
            folder = tmp_path / check.__name__
            folder.mkdir(parents=True)
            check(engine, folder, 2)
    with subtests.test(f"{engine.plan}: every operator"):
        expected = hops_of(LocalEngine(), tmp_path / "local", OPERATORS)
        assert_same(hops_of(engine, tmp_path / "spark", OPERATORS), expected)


def test_every_shipped_operator_is_tried_on_spark() -> None:
    assert set(shipped_operators()) <= {type(operator) for operator in (OPERATORS | RECURRENT).values()}


@needs_spark
@pytest.mark.slow
def test_an_embedded_master(subtests: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")

    def make(**fields: Any) -> SparkEngine:
        return SparkEngine(master="local[2]", **fields)

    everything_passes(make(plan="blocks", blocks=2), subtests, tmp_path / "blocks")
    everything_passes(make(plan="columns"), subtests, tmp_path / "columns")
    with subtests.test("columns: powers that need the two before"):
        expected = hops_of(LocalEngine(), tmp_path / "recurrent", RECURRENT)
        assert_same(hops_of(make(plan="columns"), tmp_path / "columns" / "recurrent", RECURRENT), expected)
    refused = pytest.raises(SignError, match=r"needs two hops at a time; use engine.plan=columns")
    with subtests.test("blocks: powers that need the two before are refused"), refused:
        hops_of(make(plan="blocks", blocks=2), tmp_path / "blocks" / "recurrent", RECURRENT)
    few = {"p": OPERATORS["p"]}
    with subtests.test("the plan is chosen by size, and announced"):
        caplog.clear()
        hops_of(make(executor_memory="1GB"), tmp_path / "large", few)
        hops_of(make(executor_memory="60kB"), tmp_path / "small", few)
        plans = [message for message in caplog.messages if "plan" in message]
        assert plans[0].startswith("spark: plan columns (the graph's")
        assert plans[1].startswith("spark: plan blocks (the graph's")
        with pytest.raises(SignError, match=r"do not fit an executor's 20\.0 kB; use engine.plan=blocks"):
            hops_of(make(plan="columns", executor_memory="20kB"), tmp_path / "none", few)
    with subtests.test("nothing is left behind"):
        assert not list(tmp_path.rglob("sign-*"))
    session.stop()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A standalone master and two workers on this machine, from the pip package."""
    import pyspark

    launcher = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    environment |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *options: str) -> Path:
        """Start a daemon in a group of its own, killed together with its executors, as a machine would be."""
        command = [launcher, f"org.apache.spark.deploy.{kind}", *own, *options]
        file = folder / f"daemon{len(started)}.log"
        with file.open("wb") as log:
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
        return file

    try:
        log = start("master.Master", "--port", "0")  # a port that is free, which the log names
        while not (found := re.search(r"Starting Spark master at (\S+)\n", log.read_text())):
            assert started[0].poll() is None, log.read_text()
            time.sleep(0.1)
        for number in (1, 2):
            work = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}")]
            start("worker.Worker", *work, found[1])
        yield found[1], started[1:]
    finally:
        for process in started:
            kill(process)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """The machine is gone."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@needs_spark
@pytest.mark.slow
def test_a_cluster(subtests: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("PYTHONPATH", raising=False)  # executors have our package from the driver alone
    shared = tmp_path / "shared"
    shared.mkdir()
    mount = "spark.hadoop.fs.viewfs.mounttable.sign.link./shared"
    conf = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": False,
        mount: shared.as_uri(),  # a file system that only Hadoop knows, as hdfs: or s3a: would be
    }
    with cluster(tmp_path) as (address, workers):

        def make(**fields: Any) -> SparkEngine:
            return SparkEngine(**{"master": address, "path": shared.as_uri(), "conf": conf} | fields)

        try:
            with subtests.test("an operator that executors cannot import"):
                own = {"o": OPERATORS["o"]}
                expected = hops_of(LocalEngine(), tmp_path / "local", own)
                assert_same(hops_of(make(plan="columns"), tmp_path / "spark", own), expected)
            few = {"p": OPERATORS["p"]}
            expected = hops_of(LocalEngine(), tmp_path / "few", few, dtype="float16")
            for plan in ("columns", "blocks"):
                with subtests.test(f"{plan}: half precision, on a file system that is not file:, in slices"):
                    engine = make(plan=plan, path="viewfs://sign/shared", width=12, blocks=2)
                    found = hops_of(engine, tmp_path / "remote" / plan, few, dtype="float16")
                    assert_same(found, expected, 2e-3)
            for plan in ("columns", "blocks"):
                lost = pytest.raises(SignError, match=r"the largest value is .* precision is lost")
                with subtests.test(f"{plan}: half precision that loses all values is refused"), lost:
                    hops_of(make(plan=plan), tmp_path / "faint" / plan, {"p": Faint()}, dtype="float16")
            with subtests.test("a worker is killed in the middle of a job"):
                a_worker_is_killed(make(plan="blocks", blocks=3), workers[0], shared, tmp_path)
        finally:
            session.stop()
        assert not list(shared.iterdir())


def a_worker_is_killed(engine: Engine, worker: Any, shared: Path, folder: Path) -> None:
    heat = {"h": HeatKernel(time=1.0, tolerance=1e-3)}
    expected = hops_of(LocalEngine(), folder / "heat", heat)

    def wait_and_kill() -> None:
        while not list(shared.glob("sign-*/state-2")):
            time.sleep(0.01)
        kill(worker)

    killer = threading.Thread(target=wait_and_kill, daemon=True)
    killer.start()
    found = hops_of(engine, folder / "killed", heat)
    killer.join(timeout=60)
    assert worker.poll() == -signal.SIGKILL
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("shown", "message"),
    [('openjdk version "11.0.2"', "needs Java 17 or later, but Java 11 is installed"), ("", "Java is not installed")],
)
def test_an_unsuitable_java_is_reported(
    shown: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{shown}' >&2\n")
    java.chmod(0o755 if shown else 0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    engine = SparkEngine(master="local[2]")
    with pytest.raises(SignError, match=message), engine.limits(tmp_path):
        pass


def test_a_missing_pyspark_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(SignError, match=r"PySpark is not installed; pip install"):
        session.check()


def test_the_innermost_cause_of_an_error_is_reported() -> None:
    pytest.importorskip("pyspark")
    cause = "org.apache.spark.SparkIllegalArgumentException: [MEMORY] must be at least 471859200."
    text = f"An error occurred while calling None.Context.\n: {cause}\nIncrease it.\n\tat java.lang.Thread.run"
    assert session.innermost_cause(RuntimeError(text)) == cause


def test_java_is_started_once_per_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java, log = tmp_path / "bin" / "java", tmp_path / "log"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho started >> {log}\necho 'openjdk version \"21.0.1\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert [session.java_version() for _ in range(3)] == [21, 21, 21]
    assert log.read_text().splitlines() == ["started"]


def test_a_cluster_that_does_not_answer_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    with session.logged_if_slow("not slow"):
        pass
    monkeypatch.setattr(session, "PATIENCE", 0.01)
    with session.logged_if_slow("no executor"):
        time.sleep(0.5)
    assert caplog.messages == ["no executor"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"master": "spark://host:7077"}, "path=None: spark://host:7077 needs a folder that every machine sees"),
        ({"executor_memory": "much"}, "executor_memory=much: is not a size"),
        ({"plan": "rows"}, "plan=rows: choose one of auto, columns, blocks"),
        ({"blocks": 0}, "blocks=0: must be"),
        ({"conf": "spark.executor.memory"}, "conf=spark.executor.memory: must be settings of Spark"),
    ],
)
def test_wrong_settings_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        SparkEngine(**fields)
