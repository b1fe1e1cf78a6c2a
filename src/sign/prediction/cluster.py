"""Predictions for a graph that stays on the cluster: executors compute hops, score them, and write the table."""

from typing import cast

from sign.config.settings import Settings
from sign.datasets.custom.parquet.dataset import Parquet
from sign.engines.spark.cluster.export import cluster_job, hop_tables, used_powers
from sign.engines.spark.cluster.graph import ClusterGraph
from sign.engines.spark.cluster.hop_rows import hop_rows
from sign.engines.spark.cluster.output import new_output
from sign.engines.spark.engine import SparkEngine
from sign.engines.spark.plan import STATE
from sign.errors import SignError
from sign.graph.graph import SPLITS
from sign.prediction.model import TrainedModel
from sign.prediction.predict import columns_of
from sign.prediction.scored_rows import ScoredRows
from sign.prediction.scoring import inference_network
from sign.prediction.settings import Prediction


def predict_on_cluster(settings: Settings, model: TrainedModel, prediction: Prediction) -> int:
    """Write a folder of Parquet files with what ``prediction`` asks for, and return the number of nodes."""
    model.check_hops(settings)
    engine, dataset = cast(SparkEngine, settings.engine), cast(Parquet, settings.dataset)
    path, labelled = _checked_output(prediction), prediction.nodes != "all"
    powers = used_powers(model.operators(settings.powers), model.inductive)
    with cluster_job(engine) as (job, threads), new_output(job.records, "output", path) as temporary:
        graph = ClusterGraph.read(job, dataset, engine.blocks, max(STATE, len(model.hops) + 1), labelled)
        rows = graph.nodes.rows
        names = () if isinstance(rows.features, int) else rows.features.names
        model.check_features(dataset.name, rows.width, names)
        tables = hop_tables(graph, powers, model.feature_scaling, threads)
        chosen = [table for table in tables if table.name in model.hops]
        make = ScoredRows(
            columns_of(model, prediction),
            inference_network(model.task.network),
            model.hop_scaling,
            prediction.precision,
            threads,
        )
        where = f"split = {SPLITS.index(prediction.nodes)}" if labelled else "true"
        with job.errors():
            scored = hop_rows(graph, chosen, where, make, make.schema(graph.nodes.id_type))
            scored.write.parquet(temporary)
            return int(graph.nodes.frame.where(where).count())


def _checked_output(prediction: Prediction) -> str:
    """Return the folder to write, or raise that it cannot be one."""
    path = prediction.output or str(prediction.file)
    if not path.endswith(".parquet"):
        raise SignError(f"output={path}: executors write a folder of Parquet files; name one that ends with .parquet")
    if prediction.nodes not in ("all", *SPLITS):
        raise SignError(
            f"nodes={prediction.nodes}: executors score all nodes, or those of a split; choose all, {', '.join(SPLITS)}"
        )
    return path
