"""The Spark engine: its settings, and the contract of an engine."""

import logging
import math
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any, Literal

import numpy as np

from sign.engines.base import Block, Diffusion, Engine, NodeRows
from sign.engines.spark import session
from sign.engines.spark.plan import Executors, choose
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Motif, Operator
from sign.system import memory
from sign.validation import Range

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OneProduct(Operator):
    """An operator whose matrix is passed to the engine directly."""

    def matrix(self, graph: Graph) -> Matrix:
        """Raise: the matrix does not come from a graph."""
        raise NotImplementedError


@dataclass(frozen=True)
class SparkEngine(Engine):
    """Apache Spark at ``master``, started within this process for ``local[…]``.

    Parameters
    ----------
    plan
        *columns* multiplies slices of the columns by a graph that fits into an executor; *blocks* cuts graph and
        features into ``blocks`` ranges of nodes and computes ``width`` columns at a time; ``auto`` chooses by
        ``executor_memory``.
    path
        A folder that all machines see.
    executor_memory
        What the Python processes of an executor may take; null: this machine's share, or spark.executor.memory.
    conf
        Settings of Spark.
    """

    master: str = "local[*]"
    plan: Literal["auto", "columns", "blocks"] = "auto"
    path: str | None = None
    executor_memory: str | None = None
    blocks: Annotated[int | None, Range(1)] = None
    width: Annotated[int | None, Range(1)] = None
    conf: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.executor_memory is not None and not memory.parse_size(self.executor_memory):
            raise FieldError("executor_memory", self.executor_memory, "is not a size such as 500MB or 4GB")
        if self.path is None and not session.is_local(self.master):
            rule = f"{self.master} needs a folder that every machine sees, such as hdfs://host/sign or file:/shared"
            raise FieldError("path", None, rule)
        if not isinstance(self.conf, Mapping):
            raise FieldError("conf", self.conf, "must be settings of Spark, as in conf.spark.executor.memory=4g")

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Keep to the memory of the driver; raise before any work if Spark cannot run here."""
        session.check()
        with super().limits(scratch):
            yield

    def count(self, motif: Motif, csr: CSR) -> Array:
        """Count triangles by Spark, other motifs on this machine."""
        if motif != Motif("clique", 3):
            return super().count(motif, csr)
        with self._shared_folder() as (spark, folder):
            from sign.engines.spark.triangles import count

            # a task has two parts: the ends of edges, which are kept once, and counts, both of eight bytes
            parts = self.blocks or self._executors(spark).ranges(2 * 16 * csr.entries // 2)
            log.info("spark: triangles by %d × %d parts of the edges", parts, parts)
            return count(csr, folder, parts)

    def powers(self, diffusion: Diffusion) -> Generator[Block]:
        """Choose a plan, log it, and yield its blocks."""
        with self._shared_folder() as (spark, folder):
            from sign.engines.spark import blocks, columns

            plan = choose(diffusion, self._executors(spark), self.plan, self.blocks, self.width)
            log.info("spark: %s", plan)
            if plan.name == "columns":
                yield from columns.powers(diffusion, folder, plan.width, _cpus(spark))
            else:
                yield from blocks.powers(diffusion, folder, plan.ranges, plan.width, _cpus(spark))

    def product(self, matrix: Matrix, x: Floats, rows: NodeRows = None, out: Floats | None = None) -> Floats:
        """Return the first power of an operator that is one product."""
        result = np.empty(x.shape, np.float32) if out is None else out
        if rows is None or len(rows):
            for block in self.powers(Diffusion(OneProduct(), matrix, x, {1: rows}, {1}, rows)):
                result[block.rows if rows is None else rows[block.rows], block.columns] = block.values
        return result

    @contextmanager
    def _shared_folder(self) -> Iterator[tuple[Any, Any]]:
        """Yield the session and a new shared folder; report errors of Spark in one line."""
        session.check()
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from sign.engines.spark.shared_folder import SharedFolder

        path = self.path or f"file:{(memory.scratch_folder() or Path(gettempdir())).resolve()}"
        try:
            with session.quiet():
                spark = session.connect(self.master, self.conf)
                with SharedFolder.new(spark, path) as folder:
                    yield spark, folder
        except (Py4JError, PySparkException) as error:
            reason = session.innermost_cause(error)
            raise SignError(f"engine=spark: the job failed on {self.master}: {reason}") from error

    @contextmanager
    def job(self) -> Iterator[tuple[Any, Any, Executors, int]]:
        """Yield what a job on tables needs: the session, a new shared folder, the executors, and threads per task."""
        with self._shared_folder() as (spark, folder):
            yield spark, folder, self._executors(spark), _cpus(spark)

    def _executors(self, spark: Any) -> Executors:
        context = spark.sparkContext
        slots = max(context.defaultParallelism // _cpus(spark), 1)
        executors = max(len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1, 1)  # one is the driver
        return Executors(self._room(spark), slots, math.ceil(slots / executors))

    def _room(self, spark: Any) -> int:
        """Return the bytes that the Python processes of an executor may take."""
        if self.executor_memory is not None:
            return memory.parse_size(self.executor_memory) or 0
        if session.is_local(self.master):
            return int(memory.DEFAULT_FRACTION * memory.available())
        read = spark.sparkContext._jvm.org.apache.spark.network.util.JavaUtils
        if own := spark.conf.get("spark.executor.pyspark.memory", None):
            return int(read.byteStringAsMb(own)) << 20
        return int(read.byteStringAsBytes(spark.conf.get("spark.executor.memory", "1g")))


def _cpus(spark: Any) -> int:
    """Return the number of threads per task."""
    return int(spark.conf.get("spark.task.cpus", "1"))
