"""Edges on the cluster: ends become numbers, listings are combined, and entries get their factors, by joins."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sign.datasets.custom.edges import named_columns
from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.custom.tables import Column
from sign.engines.spark.cluster.nodes import ClusterNodes
from sign.engines.spark.cluster.tables import Job, header_of, quoted, table_of
from sign.errors import SignError
from sign.graph.csr import WEIGHT_RULE, first_invalid
from sign.operators.base import ScaledEdges

SAME = "high - low <= 1e-5 * high"  # weights, up to rounding, as in sign.graph.query_kernels.same_weight
COMBINED = {  # of several weights: their sum, number, minimum and maximum
    "sum": "total",
    "mean": "total / number",
    "max": "high",
    "error": f"CASE WHEN {SAME} THEN high ELSE double('NaN') END",
}


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """Batches of the edges table ▶ the ends of each edge as text or integers, and its weight, on executors."""

    address: str
    ends: tuple[str, str]
    weight: str | None
    kind: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Convert and check batch by batch."""
        import pyarrow as pa

        for batch in batches:
            table = table_of(batch, self.address)
            source, target = (self._end(table.column(name)) for name in self.ends)
            weights = np.ones(table.rows, np.float32)
            if self.weight is not None:
                with np.errstate(over="ignore"):
                    weights = table.column(self.weight).numbers().astype(np.float32)
            if (invalid := first_invalid(weights)) is not None:
                one, two = (f"`{ends[invalid].as_py()}`" for ends in (source, target))
                raise SignError(
                    f"{self.address}: the edge from {one} to {two} has weight {weights[invalid]}; {WEIGHT_RULE}"
                )
            yield pa.RecordBatch.from_arrays([source, target, pa.array(weights)], names=["source", "target", "weight"])

    def _end(self, column: Column) -> Any:
        import pyarrow as pa

        if column.values.null_count:
            raise SignError(f"{column.where}: an empty cell is not the id of a node; add the node, or remove the row")
        ends = column.values.combine_chunks() if column.is_text else pa.array(column.integers())
        return ends if self.kind == "long" else ends.cast("string")


@dataclass(frozen=True, eq=False)
class ClusterEdges:
    """The adjacency as a table of entries: row, col and weight."""

    job: Job
    nodes: ClusterNodes
    entries: Any
    directed: bool

    @cached_property
    def undirected(self) -> Any:
        """The symmetric adjacency, the mean of both directions for a directed graph."""
        if not self.directed:
            return self.entries
        half = self.entries.selectExpr("row", "col", "double(weight) AS weight")
        both = half.union(half.selectExpr("col", "row", "weight"))
        return (
            both.groupBy("row", "col")
            .agg({"weight": "sum"})
            .selectExpr("row", "col", "float(`sum(weight)` / 2) AS weight")
        )

    @cached_property
    def triangles(self) -> Any:
        """The undirected edges that are in a triangle, their weights times the number of these.

        Every edge points to its end of higher degree, so a hub begins few pairs of edges. A triangle is found once, by
        the pair at its lowest node, whose other ends have an edge.
        """
        from pyspark.sql import functions as f

        edges = self.job.keep(self.undirected.where("row != col"), f"simple-{_unique()}")
        degrees = edges.groupBy(f.col("row").alias("node")).count()
        ends = [
            degrees.select(f.col("node").alias(end), f.struct("count", "node").alias(f"{end}_rank"))
            for end in ("row", "col")
        ]
        ranked = edges.join(ends[0], "row").join(ends[1], "col").where("row_rank < col_rank")
        upwards = self.job.keep(ranked.selectExpr("row AS u", "col AS v", "col_rank AS rank"), f"upwards-{_unique()}")
        others = upwards.selectExpr("u", "v AS w", "rank AS other")
        closing = upwards.selectExpr("u AS v", "v AS w")
        found = upwards.join(others, "u").where("rank < other").join(closing, ["v", "w"]).select("u", "v", "w")
        corners = ("u", "v"), ("v", "u"), ("u", "w"), ("w", "u"), ("v", "w"), ("w", "v")
        sides = f.explode(
            f.array(*(f.struct(f.col(one).alias("row"), f.col(two).alias("col")) for one, two in corners))
        )
        counts = found.select(sides.alias("side")).select("side.row", "side.col").groupBy("row", "col").count()
        return edges.join(counts, ["row", "col"]).selectExpr("row", "col", "float(count) * weight AS weight")

    def _of(self, kind: str) -> Any:
        """Return the edges that :class:`sign.operators.base.ScaledEdges` names."""
        match kind:
            case "undirected":
                return self.undirected
            case "triangles":
                return self.job.keep(self.triangles, f"triangles-{_unique()}")
            case "in":
                return self.entries.where("row != col").selectExpr("col AS row", "row AS col", "weight")
            case _:
                return self.entries.where("row != col")

    def scaled(self, scaled: ScaledEdges) -> Any:
        """Return the entries of a matrix with their factors multiplied in, among them those of its self-loops."""
        from pyspark.sql import functions as f

        edges = self._of(scaled.edges)
        sums = edges.groupBy(f.col("row").alias("node")).agg(f.sum(f.col("weight").cast("double")).alias("degree"))
        if scaled.self_loop:
            every = self.nodes.frame.select(f.col("number").alias("node"))
            loop = f.lit(float(scaled.self_loop))
            sums = every.join(sums, "node", "left").select(
                "node", (f.coalesce("degree", f.lit(0.0)) + loop).alias("degree")
            )
        factors = sums.select("node", _factor(scaled.left).alias("left"), _factor(scaled.right).alias("right"))
        factors = self.job.keep(factors, f"factors-{_unique()}")
        result, value = edges, f.col("weight").cast("double")
        for side, end, power in (("left", "row", scaled.left), ("right", "col", scaled.right)):
            if power:
                result = result.join(factors.select(f.col("node").alias(end), side), end)
                value = value * f.col(side)
        result = result.select("row", "col", value.cast("float").alias("value"))
        if scaled.self_loop:
            own = f.lit(float(scaled.self_loop)) * f.col("left") * f.col("right")
            node = f.col("node")
            loops = factors.select(node.alias("row"), node.alias("col"), own.cast("float").alias("value"))
            result = result.union(loops)
        return result


def read_edges(job: Job, dataset: Parquet, nodes: ClusterNodes) -> ClusterEdges:
    """Read the edges table, number the ends of edges, and combine what is listed several times."""
    from pyspark.sql import functions as f

    frame = job.read(dataset.edges, "dataset.edges")
    header = header_of(frame, dataset.edges)
    first, second, weight = named_columns(header)
    text = nodes.id_type == "string" or any(
        Column.of(header.columns[name], dataset.edges).is_text for name in (first, second)
    )
    kind = "string" if text else "long"
    convert = EdgeRows(dataset.edges, (first, second), weight, kind)
    wanted = frame.select(*[quoted(name) for name in (first, second, weight) if name is not None])
    listed = wanted.mapInArrow(lambda batches: convert(batches), f"source {kind}, target {kind}, weight float")
    ids = nodes.frame.select(f.col("id").cast(kind).alias("id"), "number")
    for end, number in (("source", "row"), ("target", "col")):
        own = ids.select(f.col("id").alias(end), f.col("number").alias(number))
        listed = listed.join(own, end, "left")
    listed = job.keep(
        listed.selectExpr(
            "row",
            "col",
            "weight",
            "CASE WHEN row IS NULL THEN source END AS one",
            "CASE WHEN col IS NULL THEN target END AS two",
        ),
        "listed",
    )
    for end, name in (("one", first), ("two", second)):
        for row in listed.where(f"{end} IS NOT NULL").limit(1).collect():
            raise SignError(
                f"{dataset.edges}, column {name}: {row[end]!r} is not the id of a node; add the node, or remove the row"
            )
    return _combined(job, dataset, nodes, listed, weight is not None)


def induced_by_training(edges: ClusterEdges, training: ClusterNodes) -> ClusterEdges:
    """Return the edges between training nodes, whose numbers are those of ``training``."""
    numbers = edges.nodes.frame.where("split = 0").select("id", "number")
    anew = numbers.join(training.frame.selectExpr("id", "number AS own"), "id").select("number", "own")
    entries = edges.entries
    for end in ("row", "col"):
        own = anew.selectExpr(f"number AS {end}", f"own AS new_{end}")
        entries = entries.join(own, end)
    entries = entries.selectExpr("new_row AS row", "new_col AS col", "weight")
    return ClusterEdges(edges.job, training, edges.job.keep(entries, "training-entries"), edges.directed)


def _combined(job: Job, dataset: Parquet, nodes: ClusterNodes, listed: Any, weighted: bool) -> ClusterEdges:
    """Combine listings: first those in the same direction, then, in an undirected graph, those of both directions."""
    from pyspark.sql import functions as f

    if not weighted:
        pairs = listed.select("row", "col")
        entries = (pairs if dataset.directed else pairs.union(pairs.selectExpr("col", "row"))).distinct()
        return ClusterEdges(
            job, nodes, job.keep(entries.selectExpr("row", "col", "float(1) AS weight"), "entries"), dataset.directed
        )
    rule = COMBINED[dataset.combine]
    entries = _combine(listed, rule)
    if not dataset.directed:
        both = entries.union(entries.selectExpr("col", "row", "weight"))
        # the two directions; a weight of NaN, of listings that differ, stays
        entries = _combine(both, f"CASE WHEN isnan(high) THEN high WHEN {SAME} THEN high ELSE {rule} END")
    entries = job.keep(entries, "entries")
    for row in entries.where(f.isnan("weight")).limit(1).collect():
        ends = {
            node["number"]: node["id"]
            for node in nodes.frame.where(f.col("number").isin([row["row"], row["col"]])).collect()
        }
        edge = f"from `{ends[row['row']]}` to `{ends[row['col']]}`"
        raise SignError(
            f"{dataset.edges}: the edge {edge} is listed with different weights; correct them, or combine them with "
            "dataset.combine=mean, max or sum"
        )
    return ClusterEdges(job, nodes, entries, dataset.directed)


def _combine(listed: Any, rule: str) -> Any:
    from pyspark.sql import functions as f

    weight = f.col("weight").cast("double")
    grouped = listed.groupBy("row", "col").agg(
        f.sum(weight).alias("total"),
        f.count(weight).alias("number"),
        f.min(weight).alias("low"),
        f.max(weight).alias("high"),
    )
    return grouped.selectExpr("row", "col", f"float({rule}) AS weight")


def _factor(power: float) -> Any:
    """Return the degree to this negative power, zero for a degree of zero, rounded as the factors of a matrix are."""
    from pyspark.sql import functions as f

    if not power:
        return f.lit(1.0)
    return (
        f.when(f.col("degree") > 0, f.pow(f.col("degree"), f.lit(-power))).otherwise(0.0).cast("float").cast("double")
    )


def _unique() -> str:
    import uuid

    return uuid.uuid4().hex[:8]
