"""Predictions, embeddings or hop rows of the nodes of a graph, streamed from the store to a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.diffusion.precompute import diffuse
from sign.engines.progress import progress_bar
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, Graph
from sign.prediction.columns import OutputColumns, most_probable
from sign.prediction.model import TrainedModel
from sign.prediction.node_hops import SELECTED, hops_of
from sign.prediction.nodes import select_nodes
from sign.prediction.outputs import check_writable, write_array, write_table
from sign.prediction.scoring import StoredRows, probabilities, score_of, scores
from sign.prediction.settings import ARRAY, Prediction
from sign.prediction.smoothed import smoothed_predictions, smoothed_thresholds
from sign.smoothing.task import logits
from sign.system import arrays

Blocks: TypeAlias = Iterator[tuple[slice, Array]]


def predict(settings: Settings, model: TrainedModel, prediction: Prediction) -> int:
    """Write what ``prediction`` asks for, and return the number of nodes.

    Hops that the store lacks are computed. Rows are read, scored and written in blocks within ``engine.memory``.
    """
    model.check_hops(settings)
    check_writable(prediction.file)
    with settings.engine.limits(Path(settings.store.root)):
        if settings.smoothing.enabled and prediction.what == "predictions":
            model, ids, blocks = _smoothed(settings, model, prediction)
            _write(model, prediction, blocks, ids)
            return len(ids)
        ids, rows = select_rows(settings, model, prediction.nodes)
        with progress_bar(prediction.what, len(rows), "nodes"):
            _write(model, prediction, scores(rows, score_of(model, prediction.what, prediction.precision)), ids)
    return len(rows)


def _smoothed(settings: Settings, model: TrainedModel, prediction: Prediction) -> tuple[TrainedModel, Array, Blocks]:
    """The model with thresholds for smoothed scores, the ids of the selected nodes, and their smoothed scores."""
    graph = model.as_trained(settings.dataset).load_for_prediction()
    model.check_graph(graph)
    graph = model.with_classes(graph)
    selected = select_nodes(graph, prediction.nodes)
    smoothed = smoothed_predictions(settings, model, graph, prediction.precision).scores
    model = replace(model, thresholds=smoothed_thresholds(model, graph, smoothed))
    parts = arrays.row_slices(len(selected), smoothed[:1].nbytes)
    blocks = ((part, logits(smoothed[selected[part]], model.multilabel)) for part in parts)
    return model, ids_of(graph, selected), blocks


def ids_of(graph: Graph, nodes: Array) -> Array:
    """The ids of some nodes; their numbers if the graph has no ids."""
    return nodes if graph.node_ids is None else np.asarray(graph.node_ids[nodes])


def select_rows(settings: Settings, model: TrainedModel, nodes: str) -> tuple[Array, StoredRows]:
    """The ids of the selected nodes, and their rows in the store."""
    dataset = settings.dataset
    if isinstance(dataset, ExportedHops):
        return _exported_rows(settings, model, nodes)
    graph = model.as_trained(dataset).load_for_prediction()
    model.check_graph(graph)
    if graph.multilabel or (graph.labels >= 0).any():
        graph = model.with_classes(graph)  # labels are read by label hops only
    selected = select_nodes(graph, nodes)
    hops = hops_of(settings, model, graph, selected)
    return ids_of(graph, selected), StoredRows(hops, SELECTED, model.hop_scaling)


def _exported_rows(settings: Settings, model: TrainedModel, nodes: str) -> tuple[Array, StoredRows]:
    if nodes not in SPLITS:
        raise SignError(f"nodes={nodes}: exported hops have rows of the splits only; choose {', '.join(SPLITS)}")
    classification = settings.dataset.classification(model.feature_scaling)
    model.check_positions(classification.name, classification.scopes[0].source["adjacency"])
    hops = diffuse(classification, settings.powers, settings.engine, settings.store, settings.branches)
    ids = next(scope.rows[nodes] for scope in classification.scopes if nodes in scope.rows)
    return ids, StoredRows(hops, nodes, model.hop_scaling)


def _write(model: TrainedModel, prediction: Prediction, blocks: Blocks, ids: Array) -> None:
    if prediction.file.suffix == ARRAY:
        write_array(prediction.file, len(ids), _arrays(model, prediction, blocks))
    else:
        columns = columns_of(model, prediction)
        write_table(prediction.file, (columns.of(ids[part], values) for part, values in blocks))


def columns_of(model: TrainedModel, prediction: Prediction) -> OutputColumns:
    """The columns of a table of predictions."""
    return OutputColumns(
        what=prediction.what,
        probabilities=prediction.probabilities,
        top=prediction.top,
        labels=model.labels,
        hops=model.hops,
        multilabel=model.multilabel,
        thresholds=model.thresholds,
    )


def _arrays(model: TrainedModel, prediction: Prediction, blocks: Blocks) -> Blocks:
    """Blocks of a numpy array: of ``best`` predictions the numbers of the classes, or 0 and 1 per label."""
    for part, values in blocks:
        if prediction.what != "predictions":
            yield part, values
        elif prediction.probabilities == "all":
            yield part, probabilities(values, model.multilabel)
        elif model.multilabel:
            yield part, model.decide(values).astype(np.uint8)
        else:
            yield part, most_probable(values, prediction.top).squeeze(1 if prediction.top == 1 else ())
