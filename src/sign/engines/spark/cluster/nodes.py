"""Nodes on the cluster: numbered in the order of their ids, with labels, splits and scaled features."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sign.datasets.custom.labels import PREFIX, encode_labels
from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.custom.parquet.feature_columns import DenseColumns, is_array
from sign.datasets.custom.parquet.node_columns import NodeColumns
from sign.datasets.custom.tables import Column, Table
from sign.engines.spark.cluster.node_rows import LabelCodes, NodeRows, rows_of
from sign.engines.spark.cluster.tables import Job, header_of, quoted, sample_of
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling

MAX_CLASSES = 100_000  # of one column of labels, which the driver holds
PLACE_BITS = 33  # of Spark's monotonically increasing ids that count the rows of a partition


@dataclass(frozen=True, eq=False)
class ClusterNodes:
    """Nodes 0, 1, … in the order of their ids, as the table ``frame``: number, id, split, label, features."""

    frame: Any
    count: int
    rows: NodeRows
    id_type: str

    def induced_by_training(self, job: Job) -> "ClusterNodes":
        """Return the training nodes alone, numbered anew."""
        training = self.frame.where("split = 0").drop("number")
        frame, count = numbered(job, training, "training-nodes")
        return replace(self, frame=frame, count=count)


def read_nodes(job: Job, dataset: Parquet, labelled: bool = True) -> ClusterNodes:
    """Read the nodes table: check and convert it, and number its ids."""
    frame = job.read(dataset.nodes, "dataset.nodes")
    header = header_of(frame, dataset.nodes)
    columns = NodeColumns.of(header, dataset.ignore)
    if labelled and not columns.labels:
        raise SignError(f"dataset.nodes={dataset.nodes}: has no labels; add a column label, or columns label_…")
    rows = NodeRows(
        address=dataset.nodes,
        columns=columns,
        features=_features(job, frame, columns, dataset),
        labels=_label_codes(job, frame, columns, header) if labelled else None,
        drawn=dataset.drawn_splits,
    )
    schema = rows.schema(header)
    converted = frame.mapInArrow(lambda batches: rows(batches), schema)
    table, count = numbered(job, converted, "nodes")
    if not count:
        raise SignError(f"{dataset.nodes}: has no rows; write one per node")
    duplicates = table.groupBy("id").count().where("count > 1").limit(1).collect()
    if duplicates:
        raise SignError(
            f"{dataset.nodes}, column {columns.id}: {duplicates[0]['id']} is duplicated; ids must be unique"
        )
    return ClusterNodes(table, count, rows, schema.split()[1].rstrip(","))


def numbered(job: Job, frame: Any, name: str) -> tuple[Any, int]:
    """Write rows in the order of their ids, and return them with a column ``number``, and their number.

    A number is that of the row in its partition, which is in the file, and the rows of all partitions before.
    """
    from pyspark.sql import functions as f

    placed = job.keep(frame.orderBy("id").withColumn("place", f.monotonically_increasing_id()), name)
    partition = f.shiftright("place", PLACE_BITS).alias("partition")
    counts = sorted((row["partition"], row["count"]) for row in placed.groupBy(partition).count().collect())
    firsts = np.concatenate([[0], np.cumsum([count for _, count in counts])]).astype(int).tolist()
    offsets = job.small([(own, first) for (own, _), first in zip(counts, firsts, strict=False)], "own int, first long")
    within = f.col("place").bitwiseAND((1 << PLACE_BITS) - 1)
    joined = placed.join(offsets, f.shiftright("place", PLACE_BITS) == f.col("own"))
    return joined.withColumn("number", f.col("first") + within).drop("own", "first", "place"), firsts[-1]


def fit_scaling(job: Job, nodes: ClusterNodes, method: str) -> FeatureScaling:
    """Fit the scaling of features on the training nodes, by executors."""
    if method == "auto":
        raise SignError(
            "scaling.features=auto: is chosen by the driver from features; use none, row_sum or standardize"
        )
    if method != "standardize":
        return FeatureScaling(method)
    training, width = nodes.frame.where("split = 0").select("features"), nodes.rows.width

    def moment(center: Array, power: int) -> Array:
        sums = Sums(center, power)
        parts = training.mapInArrow(lambda batches: sums(batches), "count long, total binary").collect()
        count = sum(part["count"] for part in parts)
        if not count:
            raise SignError(f"dataset.nodes={nodes.rows.address}: the train split is empty")
        return np.asarray(np.sum([np.frombuffer(part["total"]) for part in parts], axis=0) / count)

    mean = moment(np.zeros(width), 1)
    return FeatureScaling.of_moments(mean, moment(mean, 2))


@dataclass(frozen=True, eq=False)
class Sums:
    """Features of a partition ▶ the sum of their powers around a centre, in double precision."""

    center: Array
    power: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Add up all batches."""
        import pyarrow as pa

        total, count = np.zeros_like(self.center), 0
        for batch in batches:
            rows = rows_of(batch.column(0), len(self.center))
            total += ((rows.astype(np.float64) - self.center) ** self.power).sum(axis=0)
            count += len(rows)
        yield pa.RecordBatch.from_arrays([pa.array([count]), pa.array([total.tobytes()])], names=["count", "total"])


def _features(job: Job, frame: Any, columns: NodeColumns, dataset: Parquet) -> DenseColumns | int:
    """Return the lengths of arrays, or the number of sparse features."""
    from pyspark.sql import functions as f

    if columns.sparse is None:
        return DenseColumns.of(sample_of(frame, list(columns.dense), dataset.nodes))
    if dataset.feature_size is not None:
        return dataset.feature_size
    column = quoted(columns.sparse)
    sized = "size" in frame.schema[columns.sparse].dataType.fieldNames()
    largest = f.max(f"{column}.size") if sized else f.max(f.array_max(f"{column}.indices")) + 1
    size = frame.agg(largest.alias("size")).collect()[0]["size"]
    if not size:
        raise SignError(f"{dataset.nodes}, column {columns.sparse}: has no entries; set dataset.feature_size")
    return int(size)


def _label_codes(job: Job, frame: Any, columns: NodeColumns, header: Table) -> LabelCodes:
    """Return the classes, from the distinct labels or from the columns."""
    name = columns.labels[0]
    if len(columns.labels) > 1:
        prefixed = all(label.lower().startswith(PREFIX) for label in columns.labels)
        names = tuple(label[len(PREFIX) if prefixed else 0 :] for label in columns.labels)
        return LabelCodes(len(names), names, len(names))
    if is_array(header.columns[name].type):
        width = DenseColumns.of(sample_of(frame, [name], str(header.file))).widths[name]
        return LabelCodes(width, (), width)
    import pyarrow as pa

    distinct = frame.select(quoted(name)).distinct().limit(MAX_CLASSES + 1).collect()
    if len(distinct) > MAX_CLASSES:
        raise SignError(f"{header.file}, column {name}: has more than {MAX_CLASSES:,} different labels")
    values = pa.chunked_array([pa.array([row[0] for row in distinct], header.columns[name].type)])
    column = Column.of(values, f"{header.file}, column {name}")
    labels = encode_labels(column)
    return LabelCodes(labels.classes, labels.names, values=column.values.combine_chunks(), codes=labels.values)
