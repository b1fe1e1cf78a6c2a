"""Products on Apache Spark: settings, and the contract of an engine."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any, Literal

import numpy as np

from sign.engines.base import Engine, Job
from sign.engines.spark import session
from sign.engines.spark.plan import Executors, choose
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import ONE_PRODUCT, Operator, Product
from sign.operators.triangle import TriangleAdjacency
from sign.system import memory
from sign.system.console import console
from sign.validation import Range


@dataclass(frozen=True)
class SparkEngine(Engine):
    """Spark at ``master``, started within this process for ``local[…]``.

    ``plan``: *columns* takes slices of the features through a graph that fits an executor, *blocks* cuts all into
    ``blocks`` ranges of nodes and takes ``width`` columns at a time; ``auto`` decides by ``executor_memory``, what
    the Python processes of an executor may take (null: this machine's share, or spark.executor.memory).
    ``path`` is a folder that all machines see.
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
            raise FieldError(
                "conf", self.conf, "must be settings of Spark, as in conf.spark.executor.memory=4g"
            )

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """The memory of the driver; what Spark needs is looked for before the work begins."""
        session.check()
        with super().limits(scratch):
            yield

    def matrix(self, operator: Operator, graph: Graph) -> Matrix:
        """The matrix of an operator; triangles are counted by Spark."""
        if isinstance(operator, TriangleAdjacency) and type(operator).matrix is TriangleAdjacency.matrix:
            return operator.matrix(graph, self.triangles)
        return super().matrix(operator, graph)

    def run(self, job: Job) -> None:
        """Choose a plan, say so, and follow it; the powers are whole together."""
        began = time.perf_counter()
        with self._place() as (spark, place):
            from sign.engines.spark import blocks, columns

            plan = choose(job, self._executors(spark), self.plan, self.blocks, self.width)
            console.print(f"spark: {plan}", soft_wrap=True)
            if plan.name == "columns":
                columns.run(job, place, plan.width, _cpus(spark))
            else:
                blocks.run(job, place, plan.ranges, plan.width, _cpus(spark))
        for power in job.rows:
            for _ in range(job.products):
                job.advance(power, slice(0, job.columns))
        for power in job.wanted:
            job.finished(power, (time.perf_counter() - began) / len(job.wanted))

    def product(
        self, matrix: Matrix, x: Floats, rows: Array | None = None, out: Floats | None = None
    ) -> Floats:
        """A job of one product."""
        result = np.empty(x.shape, np.float32) if out is None else out

        def write(power: int, part: slice, columns: slice, values: Array) -> None:
            result[part if rows is None else rows[part], columns] = values

        if rows is None or len(rows):
            job = Job(
                apply=_once,
                polynomial=ONE_PRODUCT,
                buffers=2,
                matrix=matrix,
                columns=x.shape[1],
                rows={1: rows},
                wanted={1},
                used=rows,
                dtype="float32",
                read=lambda part, columns: x[part, columns].astype(np.float32, copy=False),
                write=write,
            )
            self.run(job)
        return result

    def triangles(self, csr: CSR) -> Array:
        """For every entry of a symmetric loopless matrix, the triangles it is in."""
        with self._place() as (spark, place):
            from sign.engines.spark.triangles import count

            # a task has two parts: the ends of edges, which are kept once, and counts, both of eight bytes
            parts = self.blocks or self._executors(spark).ranges(2 * 16 * csr.entries // 2)
            console.print(f"spark: triangles by {parts} × {parts} parts of the edges", soft_wrap=True)
            return count(csr, place, parts)

    @contextmanager
    def _place(self) -> Iterator[tuple[Any, Any]]:
        """The session, and a folder for one job; what goes wrong in there is said in a sentence."""
        session.check()
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from sign.engines.spark.shared_folder import Place

        path = self.path or f"file:{(memory.scratch_folder() or Path(gettempdir())).resolve()}"
        try:
            with session.quiet():
                spark = session.connect(self.master, self.conf)
                with Place.new(spark, path) as place:
                    yield spark, place
        except (Py4JError, PySparkException) as error:
            reason = session.last_line(error)
            raise SignError(f"engine=spark: the job failed on {self.master}: {reason}") from error

    def _executors(self, spark: Any) -> Executors:
        context = spark.sparkContext
        slots = max(context.defaultParallelism // _cpus(spark), 1)
        executors = max(len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1, 1)  # one is the driver
        return Executors(self._room(spark), slots, math.ceil(slots / executors))

    def _room(self, spark: Any) -> int:
        """Bytes that the Python processes of an executor may take."""
        if self.executor_memory is not None:
            return memory.parse_size(self.executor_memory) or 0
        if session.is_local(self.master):
            return int(memory.DEFAULT_FRACTION * memory.available())
        read = spark.sparkContext._jvm.org.apache.spark.network.util.JavaUtils
        if own := spark.conf.get("spark.executor.pyspark.memory", None):
            return int(read.byteStringAsMb(own)) << 20
        return int(read.byteStringAsBytes(spark.conf.get("spark.executor.memory", "1g")))


def _once(matrix: Matrix, x: Floats, product: Product) -> Floats:
    return product(matrix, x)


def _cpus(spark: Any) -> int:
    """Threads of a task."""
    return int(spark.conf.get("spark.task.cpus", "1"))
