"""The hops of chosen nodes of a graph, as a trained model reads them."""

import numpy as np

from sign.config.settings import Settings
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.graph.classification import NodeClassification, full_scope
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, Graph
from sign.graph.pseudo_labels import PseudoLabels
from sign.prediction.model import TrainedModel

SELECTED = "selected"  # the nodes to score, beside the splits of a scope


def hops_of(settings: Settings, model: TrainedModel, graph: Graph, nodes: Array) -> Hops:
    """The hops of some nodes, computed on the whole graph; those that the store has are not computed again."""
    rows = {SELECTED: nodes}
    trained = {split: graph.nodes_of(split) for split in SPLITS if not (graph.inductive and split == "train")}
    if np.isin(nodes, np.concatenate(list(trained.values()))).all():
        rows |= trained  # the rows that training stored
    scope = full_scope(graph, model.feature_scaling, rows)
    if settings.pseudo_labels:
        scope = scope.with_pseudo_labels(PseudoLabels.load(settings.pseudo_labels))
    classification = NodeClassification(
        graph.name, "", model.classes, model.multilabel, {}, [scope], model.feature_scaling
    )
    return diffuse(classification, model.operators(settings.powers), settings.engine, settings.store, settings.branches)
