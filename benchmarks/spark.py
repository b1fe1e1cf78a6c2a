"""Diffusion on Spark beside the local engine: ``python benchmarks/spark.py``.

One run, on one graph: two hops into a store with the local engine and with both plans of Spark on ``local[2]``, the
plan *blocks* with several numbers of ranges, and then a graph that is larger than what executors may take, with the
peak memory of each of their processes. What Spark takes to start, and to load our package in its processes, is
reported by itself. The contenders take turns, and the fastest of their rounds counts.

The large graph can go to a cluster of which the memory is limited from outside: ``--rounds 0`` leaves out the rest,
``--master spark://…`` and ``--path`` name the cluster and its folder, and ``--watch`` is the process id of a worker,
so that what its executors take is reported.

``--driver 1 4 16`` measures the driver of graphs that stay on the cluster, for so many million edges: the largest
resident size of its Python process and of its Java process, while executors read Parquet tables and write a pack. On a
cluster (``--master``) nothing else is in these two; on ``local[2]`` the Java process has the executors, too.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.base import Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.spark import session
from sign.engines.spark.engine import SparkEngine
from sign.graph.classification import NodeClassification, classification_of
from sign.operators.adjacency import NormalizedAdjacency
from sign.store.store import Store
from sign.system import memory

MASTER = "local[2]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", type=int, nargs="*", default=[4, 8, 16, 32])
    parser.add_argument("--large", type=int, nargs=3, default=[2_000_000, 40_000_000, 64], help="nodes edges features")
    parser.add_argument("--executor-memory", default="256MB", help="for the large graph")
    parser.add_argument("--master", default=MASTER, help="for the large graph")
    parser.add_argument("--path", help="for the large graph: a folder that the cluster sees")
    parser.add_argument("--driver", type=float, nargs="*", default=[], help="million edges of graphs on the cluster")
    parser.add_argument("--export", type=json.loads, help=argparse.SUPPRESS)  # the driver that is measured
    parser.add_argument("--watch", type=int, help="for the large graph: a process whose children are measured")
    options = parser.parse_args()
    console = Console()
    if options.export:
        export(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.driver:
            drivers(options, Path(folder), console)
            return
        if options.rounds:
            compare(options, Path(folder), console)
        bounded(options, Path(folder), console)


def drawn(nodes: int, edges: int, features: int) -> NodeClassification:
    return classification_of(Communities(nodes=nodes, edges=edges, features=features).load())


def two_hops(classification: NodeClassification, engine: Engine, folder: Path) -> float:
    """Seconds of two powers into a new store; the features are there before."""
    shutil.rmtree(folder, ignore_errors=True)
    diffuse(classification, {}, engine, Store(str(folder)))
    hops = diffuse(classification, {"p": (NormalizedAdjacency(), 2)}, engine, Store(str(folder)))
    shutil.rmtree(folder, ignore_errors=True)
    return hops.seconds


def compare(options: Any, folder: Path, console: Console) -> None:
    began = time.perf_counter()
    session.connect(MASTER, {})
    started = time.perf_counter()
    small = drawn(1000, 5000, options.features)
    contenders: dict[str, Engine] = {"local": LocalEngine(), "columns": SparkEngine(master=MASTER, plan="columns")}
    contenders |= {f"blocks {n}²": SparkEngine(master=MASTER, plan="blocks", blocks=n) for n in options.blocks}
    for engine in contenders.values():
        two_hops(small, engine, folder / "store")
    console.print(
        f"start {started - began:.1f} s, first jobs {time.perf_counter() - started:.1f} s, both not counted below"
    )
    classification = drawn(options.nodes, options.edges, options.features)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    moved: dict[str, int] = {}
    worked: dict[str, float] = {}
    for turn in range(options.rounds):
        for name, engine in contenders.items():
            if name.startswith("blocks") and turn:
                continue  # once is enough to see how they grow
            before, work = shuffled(), core_seconds()
            seconds[name].append(two_hops(classification, engine, folder / "store"))
            moved[name], worked[name] = shuffled() - before, core_seconds() - work
    table = Table(title=f"two hops, {options.nodes:,} nodes, {options.edges:,} edges, {options.features} features")
    for column in ("", "seconds", "× local", "core-seconds", "shuffled", "by the formula"):
        table.add_column(column, justify="left" if not column else "right")
    for name, every in seconds.items():
        best = min(every)
        times, engine = best / min(seconds["local"]), contenders[name]
        formula = memory.format_size(predicted(classification, engine.blocks)) if name.startswith("blocks") else ""
        work = f"{worked[name]:.0f}"
        table.add_row(name, f"{best:.1f}", f"{times:.1f}", work, memory.format_size(moved[name]), formula)
    console.print(table)


def predicted(classification: NodeClassification, ranges: int) -> float:
    """Bytes that two products should move: a sum for each row and range of columns that it has entries in.

    Beside these, the features and the pieces of the matrix, eight bytes an entry, are brought to the first stage.
    """
    graph = classification.scopes[0].origin.graph
    lengths = np.diff(graph.undirected.indptr)
    sums = ranges * (1 - (1 - 1 / ranges) ** lengths) + 1  # and the self-loop's
    row = 4 * classification.scopes[0].features
    return 2 * float(row * sums.sum() + row * graph.nodes + 8 * lengths.sum())


def core_seconds() -> float:
    """What this process and all of Spark's have computed so far, which a busy machine changes little."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(process.cpu_times().user + process.cpu_times().system for process in processes)


def shuffled() -> int:
    """Bytes that all stages so far have written for others to read."""
    executors = session.connect(MASTER, {}).sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


def bounded(options: Any, folder: Path, console: Console) -> None:
    classification = drawn(*options.large)
    engine = SparkEngine(master=options.master, path=options.path, executor_memory=options.executor_memory)
    with peaks(psutil.Process(options.watch)) as found:
        took = two_hops(classification, engine, folder / "store")
    graph = classification.scopes[0].origin.graph
    size = graph.adjacency.indices.nbytes + graph.adjacency.indptr.nbytes
    console.print(
        f"{graph.nodes:,} nodes, a graph of {memory.format_size(size)} and features of "
        f"{memory.format_size(graph.features.nbytes)}, executors with {options.executor_memory}: {took:.1f} s"
    )
    for kind, (count, top) in found.items():
        console.print(f"  {kind}: {count} processes, at most {memory.format_size(top)} resident in one")


def drivers(options: Any, folder: Path, console: Console) -> None:
    """Let a process of its own export a graph of each size, and watch it and its Java process."""
    table = Table(title=f"driver of {options.master}: largest resident size, 16 features")
    for column in ("million edges", "Python", "Java", "seconds"):
        table.add_column(column, justify="right")
    for millions in options.driver:
        tables = write_tables(folder / f"{millions:g}", int(millions * 1e6))
        command = [sys.executable, __file__, "--master", options.master, "--export", json.dumps(tables)]
        command += ["--path", options.path] if options.path else []
        began = time.perf_counter()
        with subprocess.Popen(command) as driver:
            python, java = resident(psutil.Process(driver.pid), driver)
        if driver.returncode:
            sys.exit(driver.returncode)
        took = time.perf_counter() - began
        table.add_row(f"{millions:g}", memory.format_size(python), memory.format_size(java), f"{took:.0f}")
        shutil.rmtree(folder / f"{millions:g}")
    console.print(table)


def resident(process: psutil.Process, driver: "subprocess.Popen[bytes]") -> tuple[int, int]:
    """The largest resident sizes of a process and of its Java child, until it ends."""
    python = java = 0
    while driver.poll() is None:
        try:
            python = max(python, process.memory_info().rss)
            own = [child.memory_info().rss for child in process.children() if child.name().startswith("java")]
            java = max(java, *own, 0)
        except psutil.Error:  # it has ended
            continue
        time.sleep(0.1)
    return python, java


def write_tables(folder: Path, edges: int, files: int = 8) -> dict[str, str]:
    """A random graph with text ids as Parquet tables of several files."""
    import pyarrow as pa
    import pyarrow.parquet

    nodes, rng = edges // 10, np.random.default_rng(0)
    for kind in ("edges", "nodes"):
        (folder / kind).mkdir(parents=True)
    for number, own in enumerate(np.array_split(np.arange(nodes), files)):
        ends = (rng.integers(0, nodes, edges // files) for _ in range(2))
        listed = pa.table(
            {name: pa.array(end).cast("string") for name, end in zip(("source", "target"), ends, strict=True)}
        )
        pa.parquet.write_table(listed, folder / "edges" / f"{number}.parquet")
        features = pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(16 * len(own), np.float32)), 16)
        columns = {"id": pa.array(own).cast("string"), "label": own % 5, "x": features}
        pa.parquet.write_table(pa.table(columns), folder / "nodes" / f"{number}.parquet")
    return {"edges": str(folder / "edges"), "nodes": str(folder / "nodes"), "pack": str(folder / "pack")}


def export(options: Any) -> None:
    """Export a pack of Parquet tables: the driver that is measured."""
    from sign.datasets.custom.parquet.dataset import Parquet
    from sign.engines.spark.cluster.export import export_pack

    engine = SparkEngine(master=options.master, path=options.path)
    dataset = Parquet(edges=options.export["edges"], nodes=options.export["nodes"], name="drawn")
    export_pack(engine, dataset, {"p": (NormalizedAdjacency(), 2)}, "none", options.export["pack"])


@contextmanager
def peaks(parent: psutil.Process) -> Iterator[dict[str, tuple[int, int]]]:
    """The largest resident sizes of Spark's processes while it lasts: those of Java and of Python."""
    top: dict[int, tuple[str, int]] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            for child in parent.children(recursive=True):
                try:
                    kind, held = child.name(), child.memory_info()
                    if kind.startswith(("java", "python")):
                        top[child.pid] = (kind, max(held.rss, top.get(child.pid, ("", 0))[1]))
                except psutil.Error:  # it has ended
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    result: dict[str, tuple[int, int]] = {}
    try:
        yield result
    finally:
        done.set()
        watcher.join()
        for kind, size in top.values():
            count, most = result.get(kind, (0, 0))
            result[kind] = (count + 1, max(most, size))


if __name__ == "__main__":
    main()
