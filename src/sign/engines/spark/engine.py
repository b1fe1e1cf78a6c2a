"""Products on Apache Spark: how a job is planned."""

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from sign import memory
from sign.console import console
from sign.engines.engine import Engine, Job
from sign.engines.spark import session
from sign.errors import FieldError, SignError
from sign.graph import Graph
from sign.operators.operator import ONE_PRODUCT, Operator, Product
from sign.operators.triangle import TriangleAdjacency
from sign.settings import Range
from sign.sparse import CSR, Array, Floats, Matrix

HELD = 0.5  # of the executors' memory that arrays of a plan may take; the rest is for records on their way
RANGES = 2  # for each task that runs at once, so that all have something to do until the end
ARRAYS, STATE = 2, 5  # of one range that a task holds for a product alone, and for a polynomial


@dataclass(frozen=True)
class SparkEngine(Engine):
    """Spark at ``master``, started within this process for ``local[…]``.

    ``plan``: *columns* takes slices of the features through a graph that fits an executor, *blocks* cuts all into
    ``blocks`` ranges of nodes; ``auto`` decides by ``executor_memory``, which is what the Python processes of an
    executor may take (null: this machine's share, or spark.executor.memory). ``path`` is a folder that all see.
    """

    master: str = "local[*]"
    plan: Literal["auto", "columns", "blocks"] = "auto"
    path: str | None = None
    executor_memory: str | None = None
    blocks: Annotated[int | None, Range(1)] = None
    conf: Mapping[str, Any] = field(default_factory=dict)
    takes_jobs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.executor_memory is not None and not memory.parse(self.executor_memory):
            raise FieldError("executor_memory", self.executor_memory, "is not a size such as 500MB or 4GB")
        if self.path is None and not session.is_local(self.master):
            rule = f"{self.master} needs a folder that every machine sees, such as hdfs://host/sign or file:/shared"
            raise FieldError("path", None, rule)
        if not isinstance(self.conf, Mapping):
            raise FieldError(
                "conf", self.conf, "must be settings of Spark, such as conf.spark.executor.memory=4g"
            )

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """The memory of the driver; what Spark needs is looked for before the work begins."""
        session.check()
        with super().limits(scratch):
            yield

    def matrix(self, operator: Operator, graph: Graph) -> Matrix:
        """Triangles are counted by Spark where the graph is to be in blocks."""
        if isinstance(operator, TriangleAdjacency) and type(operator).matrix is TriangleAdjacency.matrix:
            return operator.matrix(graph, self.triangles)
        return super().matrix(operator, graph)

    def run(self, job: Job) -> None:
        """Choose a plan, say so, and follow it."""
        with self._place() as (spark, place):
            columns, blocks, why = self._plan(spark, job)
            console.print(why, soft_wrap=True)
            threads = _number(spark, "spark.task.cpus", 1)
            if columns:
                from sign.engines.spark.columns import run as run_columns

                run_columns(job, place, columns, threads)
            else:
                from sign.engines.spark.blocks import run as run_blocks

                run_blocks(job, place, blocks, threads)

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
        from sign.engines.spark.triangles import count

        with self._place() as (spark, place):
            parts = self.blocks or self._ranges(spark, 8 * csr.nodes + 12 * csr.entries)
            console.print(f"spark: triangles between {parts} parts of {csr.nodes:,} nodes", soft_wrap=True)
            return count(csr, place, parts)

    @contextmanager
    def _place(self) -> Iterator[tuple[Any, Any]]:
        """The session, and a folder for one job; what goes wrong in there is said in a sentence."""
        session.check()
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from sign.engines.spark.place import Place

        path = self.path or f"file:{(memory.scratch() or Path(gettempdir())).resolve()}"
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
                spark = session.connect(self.master, self.conf)
                with Place.new(spark, path) as place:
                    yield spark, place
        except (Py4JError, PySparkException) as error:
            raise SignError(
                f"engine=spark: the job failed on {self.master}: {session.last_line(error)}"
            ) from error

    def _plan(self, spark: Any, job: Job) -> tuple[int, int, str]:
        """Columns of a slice, or else ranges of nodes, and why."""
        matrix, readable = job.matrix, memory.readable
        csr = matrix.csr
        arrays = (csr.indptr, csr.indices, csr.weights, matrix.left, matrix.right)
        graph = sum(array.nbytes for array in arrays if array is not None)
        room, (slots, at_once) = self._room(spark), self._slots(spark)
        column = 4 * csr.nodes * job.buffers * at_once
        widest = int(HELD * (room - graph)) // column
        width = min(widest, max(math.ceil(job.columns / slots), memory.LINE), job.columns)
        has = f"an executor's {readable(room)}"
        least = f"the graph's {readable(graph)} and {at_once} × 1 column of {readable(column / at_once)}"
        if self.plan == "columns" and widest < 1:
            raise SignError(f"engine.plan=columns: {least} do not fit {has}; use engine.plan=blocks")
        if self.plan == "columns" or (self.plan == "auto" and widest >= min(job.columns, memory.LINE)):
            tasks = math.ceil(job.columns / width)
            why = f"the graph's {readable(graph)} fit {has}" if self.plan == "auto" else "as told"
            return width, 0, f"spark: plan columns ({why}): {tasks} tasks of {width} columns on {self.master}"
        arrays_held = ARRAYS if job.polynomial == ONE_PRODUCT else STATE
        count = self.blocks or self._ranges(spark, 4 * csr.nodes * (job.columns + 1) * arrays_held)
        why = f"{least} do not fit {has}" if self.plan == "auto" else "as told"
        return 0, count, f"spark: plan blocks ({why}): {count} × {count} blocks on {self.master}"

    def _ranges(self, spark: Any, size: float) -> int:
        """Ranges of nodes such that tasks that run at once hold their parts of ``size`` bytes."""
        slots, at_once = self._slots(spark)
        fitting = math.ceil(
            2 * size * at_once / (HELD * self._room(spark))
        )  # a range is up to two even shares
        return max(fitting, RANGES * slots)

    def _room(self, spark: Any) -> int:
        """Bytes that the Python processes of an executor may take."""
        if self.executor_memory is not None:
            return memory.parse(self.executor_memory) or 0
        if session.is_local(self.master):
            return int(memory.SHARE * memory.available())
        text = spark.conf.get("spark.executor.pyspark.memory", None) or spark.conf.get(
            "spark.executor.memory", "1g"
        )
        return int(spark.sparkContext._jvm.org.apache.spark.network.util.JavaUtils.byteStringAsBytes(text))

    def _slots(self, spark: Any) -> tuple[int, int]:
        """Tasks that can run at once: in all, and in one executor."""
        context = spark.sparkContext
        cpus = _number(spark, "spark.task.cpus", 1)
        slots = max(context.defaultParallelism // cpus, 1)
        executors = max(context._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1, 1)
        return slots, math.ceil(slots / executors)


def _once(matrix: Matrix, x: Floats, product: Product) -> Floats:
    return product(matrix, x)


def _number(spark: Any, name: str, default: int) -> int:
    return int(spark.conf.get(name, str(default)))
