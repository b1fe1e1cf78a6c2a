"""A graph on the cluster ▶ a pack of Parquet files: the hops of the used rows of each split, with ids and labels."""

import json
import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.exported_hops import DESCRIPTION
from sign.engines.spark.cluster.graph import ClusterGraph, HopTable, recipe
from sign.engines.spark.cluster.hop_rows import hop_rows
from sign.engines.spark.cluster.nodes import fit_scaling
from sign.engines.spark.cluster.output import new_output, write_text
from sign.engines.spark.cluster.tables import Job
from sign.engines.spark.engine import SparkEngine
from sign.engines.spark.plan import STATE
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import SPLITS
from sign.operators.base import Operator

Powers = Mapping[str, tuple[Operator, int]]
Scopes = dict[str, tuple[ClusterGraph, Sequence[str]]]  # the graph of each scope, and its splits
log = logging.getLogger(__name__)


def export_pack(engine: SparkEngine, dataset: Parquet, powers: Powers, method: str, path: str) -> dict[str, int]:
    """Compute the hops of a data set on the cluster and write them to the new folder ``path``.

    Returns
    -------
    dict
        The number of rows of each split.
    """
    used = used_powers(powers, dataset.inductive)
    with cluster_job(engine) as (job, threads), new_output(job.records, "path", path) as temporary:
        held = max(STATE, sum(power for _, power in used.values()) + 2)
        graph = ClusterGraph.read(job, dataset, engine.blocks, held)
        log.info("spark: %s: %s nodes in %d ranges", dataset.name, f"{graph.nodes.count:,}", len(graph.bounds) - 1)
        scaling = fit_scaling(job, graph.nodes, method)
        scopes: Scopes = {"full": (graph, SPLITS)}
        if dataset.inductive:
            training = graph.induced_by_training(engine.blocks, held)
            scopes = {"train": (training, SPLITS[:1]), "full": (graph, SPLITS[1:])}
        for scope, splits in scopes.values():
            tables = hop_tables(scope, used, scaling, threads)
            make = PackRows([table.name for table in tables], scope.nodes.rows.width)
            chosen = " OR ".join(f"split = {SPLITS.index(split)}" for split in splits)
            rows = hop_rows(scope, tables, chosen, make, make.schema(scope.nodes.frame))
            with job.errors():
                rows.write.mode("append").partitionBy("split").parquet(f"{temporary}/rows")
        counts = {row["split"]: row["count"] for row in graph.nodes.frame.groupBy("split").count().collect()}
        sizes = {split: int(counts.get(number, 0)) for number, split in enumerate(SPLITS)}
        write_text(
            job.records, f"{temporary}/{DESCRIPTION}", _description(dataset, graph, used, scaling, sizes, scopes)
        )
    return sizes


def used_powers(powers: Powers, inductive: bool) -> Powers:
    """Return the operators that have a power, resolved for the protocol; raise for one that needs the graph here."""
    used = {letter: (operator.resolve(inductive), power) for letter, (operator, power) in powers.items() if power}
    for operator, _ in used.values():
        recipe(operator)
    return used


@contextmanager
def cluster_job(engine: SparkEngine) -> Iterator[tuple[Job, int]]:
    """Yield a job on tables, and the number of threads per task."""
    with engine.job() as (spark, folder, executors, threads):
        yield Job.of(spark, folder, executors), threads


def hop_tables(graph: ClusterGraph, powers: Powers, scaling: FeatureScaling, threads: int) -> list[HopTable]:
    """Compute the features and all powers of operators."""
    tables = [graph.features(f"{graph.name}-X", scaling)]
    for letter, (operator, highest) in powers.items():
        for table in graph.powers(letter, operator, highest, scaling, threads):
            log.info("spark: %s graph: %s is complete", graph.name, table.name)
            tables.append(table)
    return tables


@dataclass(frozen=True)
class PackRows:
    """Nodes and their hops ▶ rows of a pack: node, id, split, label, and an array for each hop."""

    names: Sequence[str]
    width: int

    def schema(self, nodes: Any) -> str:
        """Return the schema of the rows, for a data frame of nodes."""
        kinds = {field.name: field.dataType.simpleString() for field in nodes.schema}
        hops = ", ".join(f"`{name}` array<float>" for name in self.names)
        return f"node long, id {kinds['id']}, split string, label {kinds['label']}, {hops}"

    def __call__(self, nodes: Any, wide: Floats) -> Any:
        """Return a batch of rows."""
        import pyarrow as pa

        split = pa.array([SPLITS[number] for number in nodes.column("split").to_pylist()])
        columns = {
            "node": nodes.column("number"),
            "id": nodes.column("id"),
            "split": split,
            "label": nodes.column("label"),
        }
        offsets = pa.array(np.arange(len(wide) + 1, dtype=np.int32) * np.int32(self.width))
        for number, name in enumerate(self.names):
            values = np.ascontiguousarray(wide[:, number * self.width : (number + 1) * self.width])
            columns[name] = pa.ListArray.from_arrays(offsets, pa.array(values.reshape(-1)))
        return pa.table(columns).combine_chunks().to_batches()[0]


def _description(
    dataset: Parquet,
    graph: ClusterGraph,
    powers: Powers,
    scaling: FeatureScaling,
    sizes: Mapping[str, int],
    scopes: Scopes,
) -> str:
    """Return what ``pack.json`` says. A pack has an identity of its own, by which the store knows its hops."""
    labels, width, identity = graph.nodes.rows.labels, graph.nodes.rows.width, uuid.uuid4().hex
    if labels is None:
        raise SignError(f"dataset.nodes={dataset.nodes}: has no labels")
    features = graph.nodes.rows.features
    shown = ", ".join(f"{count:,} {split}" for split, count in sizes.items())
    content = {
        "name": dataset.name,
        "summary": f"{graph.nodes.count:,} nodes, {width:,} features, {labels.classes} classes; {shown}",
        "classes": labels.classes,
        "class_names": list(labels.names),
        "multilabel": bool(labels.width),
        "feature_names": [] if isinstance(features, int) else list(features.names),
        "feature_scaling": scaling.to_plain(),
        "dtype": "float32",
        "digest": identity,
        "rows": dict(sizes),
        "operators": {letter: {"powers": power, **operator.describe()} for letter, (operator, power) in powers.items()},
        "scopes": [
            {
                "name": name,
                "nodes": scope.nodes.count,
                "features": width,
                "splits": list(splits),
                "labels": identity,
                "source": {
                    "scope": name,
                    "features": identity,
                    "scaling": scaling.fingerprint,
                    "adjacency": identity,
                    "directed": dataset.directed,
                    "inductive": dataset.inductive,
                },
            }
            for name, (scope, splits) in scopes.items()
        ],
    }
    return json.dumps(content, indent=2) + "\n"
