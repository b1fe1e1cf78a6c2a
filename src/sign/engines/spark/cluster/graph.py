"""A graph that the driver holds by reference: counts, and tables on the shared folder that executors read and write."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.parquet.dataset import Parquet
from sign.engines.spark.block_tasks import LOOPS, Cut
from sign.engines.spark.blocks import Blocks, ranges
from sign.engines.spark.cluster.edges import ClusterEdges, induced_by_training, read_edges
from sign.engines.spark.cluster.nodes import ClusterNodes, read_nodes
from sign.engines.spark.cluster.records import FeatureRecords, RowRecords
from sign.engines.spark.cluster.tables import Job
from sign.engines.spark.records import DDL, Record
from sign.engines.spark.shared_folder import SharedFolder
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.operators.base import Operator, Polynomial, ScaledEdges

BUCKETS = 1 << 12  # of rows, whose entries the driver counts to cut nodes into ranges


@dataclass(frozen=True)
class HopTable:
    """The records of a hop, by ranges of nodes: its name, its table, and the columns of its records.

    Those beyond the features are not a part of the hop.
    """

    name: str
    table: str
    columns: int


@dataclass(frozen=True, eq=False)
class ClusterGraph:
    """Nodes and edges as tables, cut into ranges of nodes at ``bounds``; ``name`` is that of its scope."""

    name: str
    job: Job
    nodes: ClusterNodes
    edges: ClusterEdges
    bounds: Array

    @classmethod
    def read(cls, job: Job, dataset: Parquet, count: int | None, held: int, labelled: bool = True) -> "ClusterGraph":
        """Build the graph of a data set; ``held`` are the arrays of a range that a task holds at once.

        Without a ``count`` of ranges, it follows from the memory of executors.
        """
        nodes = read_nodes(job, dataset, labelled)
        return cls.of("full", job, nodes, read_edges(job, dataset, nodes), count, held)

    @classmethod
    def of(
        cls, name: str, job: Job, nodes: ClusterNodes, edges: ClusterEdges, count: int | None, held: int
    ) -> "ClusterGraph":
        """Cut nodes into ranges."""
        count = count or job.executors.ranges(4 * nodes.count * (nodes.rows.width + 1) * held)
        return cls(name, job, nodes, edges, _bounds(nodes.count, edges.undirected, count))

    def induced_by_training(self, count: int | None, held: int) -> "ClusterGraph":
        """Return the graph of the training nodes, without any data of other nodes."""
        training = self.nodes.induced_by_training(self.job)
        return self.of("train", self.job, training, induced_by_training(self.edges, training), count, held)

    def features(self, name: str, scaling: FeatureScaling, ones: bool = False) -> HopTable:
        """Write the scaled features to the table ``name``."""
        width = self.nodes.rows.width
        records = FeatureRecords(self.bounds, width, scaling, ones)
        frame = self.nodes.frame.select("number", "features").mapInArrow(lambda batches: records(batches), DDL)
        self.job.keep(frame, name)
        return HopTable("X", name, width + ones)

    def powers(
        self, letter: str, operator: Operator, highest: int, scaling: FeatureScaling, threads: int
    ) -> Iterator[HopTable]:
        """Compute the powers of an operator from 1 to ``highest``, whose tables are kept."""
        scaled, polynomial = recipe(operator)
        name = f"{self.name}-{letter}"
        folder = SharedFolder(self.job.records, self.job.folder.address(name))
        self._write_rows(scaled, name)
        blocks = Blocks(folder, self.bounds, self.nodes.rows.width + polynomial.normalized, threads, version=1)
        self.features(f"{name}/{blocks.state}", scaling, polynomial.normalized)
        with self.job.errors():
            blocks.cut_rows(Cut(self.bounds, None, None, 0.0), "rows", "empty")
            for power in range(1, highest + 1):
                blocks.multiply(polynomial, "float32", None)
                blocks.kept.add(blocks.state)
                yield HopTable(f"{letter}{power}", f"{name}/{blocks.state}", blocks.width)
        folder.remove("pieces")

    def keys(self, frame: Any, column: str) -> Any:
        """Add the range of each row of a table, as the column ``key``."""
        from pyspark.sql import functions as f

        cases = f.lit(0)
        for bound in self.bounds[1:-1].tolist():
            cases = cases + (f.col(column) >= bound).cast("int")
        return frame.withColumn("key", cases)

    def _write_rows(self, scaled: ScaledEdges, name: str) -> None:
        """Write the rows of a matrix as records; a range without entries has an empty one."""
        count, records = len(self.bounds) - 1, RowRecords(self.bounds)
        entries = self.keys(self.edges.scaled(scaled), "row").select("key", "row", "col", "value")
        in_order = entries.repartitionById(count, "key").sortWithinPartitions("key", "row", "col")
        rows = in_order.mapInArrow(lambda batches: records(batches), DDL)
        self.job.keep(rows, f"{name}/rows")
        with self.job.folder.tables([f"{name}/empty"]) as (sink,):
            for key in range(count):
                sink(Record(key, LOOPS, first=int(self.bounds[key])))


def recipe(operator: Operator) -> tuple[ScaledEdges, Polynomial]:
    """Return how an operator is computed from the edges, or raise that it cannot be."""
    scaled, polynomial = operator.scaled_edges, operator.polynomial
    if scaled is None or polynomial is None or operator.recurrent:
        raise SignError(
            f"engine=spark: {operator.name} is not computed on a graph that stays on the cluster; leave it out, or use "
            "engine=local"
        )
    return scaled, polynomial


def _bounds(nodes: int, entries: Any, count: int) -> Array:
    """Return the boundaries of ranges of nodes, by the number of entries of buckets of rows."""
    step = -(-nodes // BUCKETS)
    counted = entries.selectExpr(f"row div {step} AS bucket").groupBy("bucket").count().collect()
    lengths = np.zeros(-(-nodes // step), np.int64)
    for row in counted:
        lengths[row["bucket"]] = row["count"]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return np.unique(np.minimum(ranges(indptr, min(count, len(lengths))) * step, nodes))
