"""Predictions, embeddings or hop rows of the nodes of a graph, streamed from the store to a file."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.engines.progress import progress_bar
from sign.errors import SignError
from sign.graph.classification import NodeClassification, full_scope
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, Graph
from sign.prediction.model import TrainedModel
from sign.prediction.nodes import select_nodes
from sign.prediction.outputs import Columns, check_writable, write_array, write_table
from sign.prediction.scoring import StoredRows, score_of, scores
from sign.prediction.settings import ARRAY, Prediction

SELECTED = "selected"  # the nodes to score, beside the splits of a scope


def predict(settings: Settings, model: TrainedModel, prediction: Prediction) -> int:
    """Write what ``prediction`` asks for, and return the number of nodes.

    Hops that the store lacks are computed. Rows are read, scored and written in blocks within ``engine.memory``.
    """
    model.check_hops(settings)
    check_writable(prediction.file)
    with settings.engine.limits(Path(settings.store.root)):
        ids, rows = select_rows(settings, model, prediction.nodes)
        with progress_bar(prediction.what, len(rows), "nodes"):
            _write(model, prediction, rows, ids)
    return len(rows)


def select_rows(settings: Settings, model: TrainedModel, nodes: str) -> tuple[Array, StoredRows]:
    """The ids of the selected nodes, and their rows in the store."""
    dataset = settings.dataset
    if isinstance(dataset, ExportedHops):
        return _exported_rows(settings, model, nodes)
    graph = model.as_trained(dataset).load_for_prediction()
    model.check_graph(graph)
    if graph.multilabel or (graph.labels >= 0).any():
        model.with_classes(graph)  # only checked: labels are not needed
    selected = select_nodes(graph, nodes)
    hops = hops_of(settings, model, graph, selected)
    ids = selected if graph.node_ids is None else graph.node_ids[selected]
    return ids, StoredRows(hops, SELECTED, model.hop_scaling)


def hops_of(settings: Settings, model: TrainedModel, graph: Graph, nodes: Array) -> Hops:
    """The hops of some nodes, computed on the whole graph; those that the store has are not computed again."""
    rows = {SELECTED: nodes}
    trained = {split: graph.nodes_of(split) for split in SPLITS if not (graph.inductive and split == "train")}
    if np.isin(nodes, np.concatenate(list(trained.values()))).all():
        rows |= trained  # the rows that training stored
    scope = full_scope(graph, model.feature_scaling, rows)
    classification = NodeClassification(
        graph.name, "", model.classes, model.multilabel, {}, [scope], model.feature_scaling
    )
    return diffuse(classification, model.operators(settings.powers), settings.engine, settings.store, settings.branches)


def _exported_rows(settings: Settings, model: TrainedModel, nodes: str) -> tuple[Array, StoredRows]:
    if nodes not in SPLITS:
        raise SignError(f"nodes={nodes}: exported hops have rows of the splits only; choose {', '.join(SPLITS)}")
    classification = settings.dataset.classification(model.feature_scaling)
    hops = diffuse(classification, settings.powers, settings.engine, settings.store, settings.branches)
    ids = next(scope.rows[nodes] for scope in classification.scopes if nodes in scope.rows)
    return ids, StoredRows(hops, nodes, model.hop_scaling)


def _write(model: TrainedModel, prediction: Prediction, rows: StoredRows, ids: Array) -> None:
    blocks = scores(rows, score_of(model, prediction.what, prediction.precision))
    if prediction.file.suffix == ARRAY:
        write_array(prediction.file, len(rows), _arrays(model, prediction, blocks))
    else:
        write_table(prediction.file, _columns(model, prediction, blocks, ids))


def probabilities(logits: Array, multilabel: bool) -> Array:
    """The probability of each class, or of each label."""
    tensor = torch.from_numpy(logits)
    return (tensor.sigmoid() if multilabel else tensor.softmax(dim=1)).numpy()


def _arrays(
    model: TrainedModel, prediction: Prediction, blocks: Iterator[tuple[slice, Array]]
) -> Iterator[tuple[slice, Array]]:
    """Blocks of a numpy array: of ``best`` predictions the numbers of the classes, or 0 and 1 per label."""
    for part, values in blocks:
        if prediction.what != "predictions":
            yield part, values
        elif prediction.probabilities == "all":
            yield part, probabilities(values, model.multilabel)
        elif model.multilabel:
            yield part, model.decide(values).astype(np.uint8)
        else:
            yield part, _most_probable(values, prediction.top).squeeze(1 if prediction.top == 1 else ())


def _columns(
    model: TrainedModel, prediction: Prediction, blocks: Iterator[tuple[slice, Array]], ids: Array
) -> Iterator[Columns]:
    """Blocks of a table, ids first."""
    names = np.array(model.labels, dtype=object)
    for part, values in blocks:
        columns: dict[str, Array | list[list[str]]] = {"id": ids[part]}
        if prediction.what == "hops":
            names_of_hops = [f"{hop}_{number}" for hop, width in model.hops.items() for number in range(width)]
            columns |= _named(values, names_of_hops)
        elif prediction.what == "embeddings":
            columns |= _named(values, [f"embedding_{number}" for number in range(values.shape[1])])
        else:
            if model.multilabel:
                columns["labels"] = [names[chosen].tolist() for chosen in model.decide(values)]
            values = probabilities(values, model.multilabel)
            if not model.multilabel or prediction.top > 1:
                columns |= _top(values, prediction.top, names)
            if prediction.probabilities == "all":
                columns |= _named(values, [f"p_{name}" for name in names])
        yield columns


def _named(values: Array, names: list[str]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(values[:, number]) for number, name in enumerate(names)}


def _top(values: Array, top: int, names: Array) -> dict[str, Array]:
    """The most probable classes by name, with their probabilities."""
    order = _most_probable(values, top)
    columns = {}
    for rank, numbers in enumerate(order.T, start=1):
        suffix = f"_{rank}" if top > 1 else ""
        columns[f"class{suffix}"] = names[numbers]
        columns[f"probability{suffix}"] = np.take_along_axis(values, numbers[:, None], 1)[:, 0]
    return columns


def _most_probable(values: Array, top: int) -> Array:
    """The numbers of the ``top`` most probable classes of each row, in descending order; ties by number."""
    if top == 1:
        return np.asarray(values.argmax(axis=1)[:, None])
    return np.argsort(-values, axis=1, kind="stable")[:, :top]
