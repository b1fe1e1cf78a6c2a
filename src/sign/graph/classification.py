"""Node classification: labels of each split, and the scopes that its rows are computed on.

Transductive data sets have one scope, ``full``. Inductive ones have two: training rows are computed on the graph
induced by the training nodes (``train``), validation and test rows on the whole graph (``full``), so no information
about a held-out node reaches a training row.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling, choose_scaling
from sign.graph.features import MAX_DENSITY, SparseFeatures, density
from sign.graph.graph import SPLITS, Graph
from sign.graph.node_digests import Digests, digest_features, digest_ids
from sign.graph.profile import Profile, profile_of
from sign.graph.pseudo_labels import PseudoLabels
from sign.system import arrays
from sign.system.hashing import digest


@dataclass(frozen=True, eq=False)
class Origin:
    """The input of diffusion: a graph, the scaling of its features, and predictions that serve as labels, if any do."""

    graph: Graph
    scaling: FeatureScaling
    pseudo_labels: PseudoLabels | None = None

    @cached_property
    def node_digests(self) -> tuple[Digests, Digests]:
        """Hashes of the id and of the scaled features of each node."""
        return digest_ids(self.graph.node_ids, self.graph.nodes), digest_features(self.graph, self.scaling)

    @cached_property
    def sparse_features(self) -> SparseFeatures | None:
        """The scaled features if few of them are not zero; None otherwise."""
        features = self.graph.features
        if not self.scaling.keeps_zeros or density(features) > MAX_DENSITY:
            return None
        if self.scaling.method == "none" and isinstance(features, SparseFeatures):
            return features
        blocks = (self.scaling.apply(rows) for _, rows in arrays.gather(features, None))
        return SparseFeatures.from_blocks(blocks, features.shape[1])

    @cached_property
    def labelled(self) -> tuple[Array, Array]:
        """The nodes whose labels are known in training, and the labels of all nodes, of which no others may be read."""
        graph, pseudo = self.graph, self.pseudo_labels
        if pseudo is None:
            return graph.train, graph.labels
        labels = graph.labels.copy()
        labels[pseudo.nodes] = pseudo.labels
        labels[graph.train] = graph.labels[graph.train]
        return np.union1d(graph.train, pseudo.nodes), labels


class RowSource(Protocol):
    """Rows of hops that were computed elsewhere."""

    def column(self, operator: Mapping[str, Any] | None, power: int) -> str | None:
        """Return the name of a power of the described operator, or of the features; None if there is none."""

    def blocks(self, column: str) -> Iterator[tuple[Array, Array]]:
        """Yield the numbers of nodes and their rows of a hop, block by block."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The graph that hops are computed on, and the rows of the splits that use it.

    ``source`` is the part of the store's key that does not depend on the operator. Exported hops have no ``origin``:
    no other hops can be computed. Those of a cluster are ``exported`` rows, which the store copies. ``labels`` is the
    content hash of the nodes whose labels are known in training, of these labels, and of the groups of nodes.
    """

    name: str
    nodes: int
    features: int
    rows: dict[str, Array]
    source: dict[str, Any]
    classes: int
    labels: str
    origin: Origin | None = None
    exported: RowSource | None = None

    @cached_property
    def used_nodes(self) -> Array | None:
        """The sorted nodes that are in some split; None if all are."""
        if self.nodes > 8 * sum(map(len, self.rows.values())):  # a mask would be larger than the rows themselves
            return np.unique(np.concatenate([*self.rows.values()])).astype(np.int64)
        mask = np.zeros(self.nodes, np.bool_)
        for nodes in self.rows.values():
            mask[nodes] = True
        return None if mask.all() else np.flatnonzero(mask)

    def with_pseudo_labels(self, pseudo: PseudoLabels) -> "Scope":
        """Return the scope in which predictions serve as labels; those of another graph are left out."""
        if pseudo.graph != self.source["adjacency"]:
            return self
        origin = self.origin and replace(self.origin, pseudo_labels=pseudo)
        return replace(self, labels=f"{self.labels}-{digest(pseudo.nodes, pseudo.labels)}", origin=origin)


@dataclass(frozen=True, eq=False)
class NodeClassification:
    """What training needs of a data set, beside the hops of its scopes.

    Exported hops are in a ``store`` of their own, with type ``dtype``. ``evaluator`` names the OGB data set
    whose evaluator computes the accuracy. ``feature_scaling`` is the method that was applied or chosen; ``profile``
    describes the graph, and is None where there is none.
    """

    name: str
    summary: str
    classes: int
    multilabel: bool
    labels: dict[str, Array]
    scopes: list[Scope]
    feature_scaling: FeatureScaling
    profile: Profile | None = None
    store: Path | None = None
    dtype: Literal["float32", "float16"] = "float32"
    evaluator: str | None = None
    class_names: tuple[str, ...] = ()  # empty: classes are numbers
    feature_names: tuple[str, ...] = ()
    fill_values: tuple[float, ...] = ()  # means of the training nodes, where they replaced missing features

    def with_pseudo_labels(self, pseudo: PseudoLabels) -> "NodeClassification":
        """Return the classification whose training nodes include those that have pseudo labels.

        Those of another graph are left out.
        """
        scope, *others = self.scopes
        joined = scope.with_pseudo_labels(pseudo)
        if joined is scope:
            return self
        nodes, labels = pseudo.join(scope.rows["train"], self.labels["train"])
        joined = replace(joined, rows={**scope.rows, "train": nodes})
        return replace(self, labels={**self.labels, "train": labels}, scopes=[joined, *others])


def classification_of(graph: Graph, feature_scaling: str | FeatureScaling = "none") -> NodeClassification:
    """Build the node classification of a graph: labels and scopes of its splits.

    ``feature_scaling`` is a method, which is fitted on the training nodes, or the scaling of a trained model; the
    method ``auto`` is chosen by the features.
    """
    profile = profile_of(graph) if len(graph.train) else None
    if isinstance(feature_scaling, str):
        if profile is None:
            raise SignError(f"{graph.name}: the train split is empty")
        method = choose_scaling(profile) if feature_scaling == "auto" else feature_scaling
        feature_scaling = FeatureScaling.fit(method, graph)
    sizes = ", ".join(f"{len(graph.nodes_of(split)):,} {split}" for split in SPLITS)
    return NodeClassification(
        name=graph.name,
        summary=f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.features.shape[1]:,} features, "
        f"{graph.classes} classes; {sizes}",
        classes=graph.classes,
        multilabel=graph.multilabel,
        labels={split: graph.labels[graph.nodes_of(split)] for split in SPLITS},
        scopes=scopes(graph, feature_scaling),
        feature_scaling=feature_scaling,
        profile=profile,
        class_names=graph.class_names,
        feature_names=graph.feature_names,
        fill_values=graph.fill_values,
    )


def scopes(graph: Graph, scaling: FeatureScaling) -> list[Scope]:
    """Return one scope for a transductive graph, two for an inductive one."""
    if not graph.inductive:
        return [full_scope(graph, scaling, {split: graph.nodes_of(split) for split in SPLITS})]
    inner = graph.induced_by_training()
    return [
        _scope("train", inner, scaling, {"train": inner.train}),
        full_scope(graph, scaling, {split: graph.nodes_of(split) for split in ("val", "test")}),
    ]


def full_scope(graph: Graph, scaling: FeatureScaling, rows: dict[str, Array]) -> Scope:
    """Return the scope of the whole graph, with the nodes whose rows are used, by name."""
    return _scope("full", graph, scaling, rows)


def _scope(name: str, graph: Graph, scaling: FeatureScaling, rows: dict[str, Array]) -> Scope:
    source = {
        "scope": name,
        "features": graph.features_digest,
        "scaling": scaling.fingerprint,
        "adjacency": graph.adjacency.digest,
        "directed": graph.directed,
        "inductive": graph.inductive,
        **graph.edge_data_digests,
    }
    groups = () if graph.groups is None else (graph.groups,)
    labels = digest(graph.train.astype(np.int64), graph.labels[graph.train].astype(np.int64), *groups)
    return Scope(
        name, graph.nodes, graph.features.shape[1], rows, source, graph.classes, labels, Origin(graph, scaling)
    )
