"""A graph with features, labels and splits, validated when it is created."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sign.errors import SignError
from sign.graph.csr import CSR, Array, Floats, check_weights
from sign.graph.csr_transforms import induced_subgraph, symmetrize
from sign.graph.edge_data import TimedEdges, are_symmetric, induced_features
from sign.graph.features import Features, SparseFeatures, first_value
from sign.system import arrays
from sign.system.hashing import digest

SPLITS = ("train", "val", "test")


def quoted_name(names: Array | Sequence[str] | None, index: int) -> str:
    """Return what the user calls a node, a class or a feature, in backticks; its index if it has no name.

    >>> quoted_name(("age", "income"), 1), quoted_name((), 1)
    ('`income`', '1')
    """
    return str(index) if names is None or not len(names) else f"`{names[index]}`"


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with node features, labels and a split of its nodes.

    Parameters
    ----------
    adjacency
        An entry (i, j) per edge i → j; symmetric unless the graph is ``directed``.
    labels
        Class indices, -1 where unknown, or a 0/1 matrix with one column per label (multilabel).
    train, val, test
        Sorted, disjoint node indices; a graph that is only scored has none.
    inductive
        Compute training rows on the graph induced by the training nodes.
    class_names, feature_names, node_ids
        What the user calls classes, columns of the features and nodes; empty or None where they have no names.
    fill_values
        What missing features were replaced with, one value per column, if it is the mean of the training nodes.
    groups
        The number of the group of each node: nodes that belong together, such as the packages of one source.
    edge_features, edge_feature_names
        One row per entry of the adjacency, and what its columns are called; of an undirected graph the same row for
        both entries of an edge.
    edge_times
        Every listed edge with its time.

    Raises
    ------
    SignError
        If shapes, types or values are inconsistent.
    """

    name: str
    adjacency: CSR
    features: Features
    labels: Array
    classes: int
    train: Array
    val: Array
    test: Array
    directed: bool = False
    inductive: bool = False
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    node_ids: Array | None = None
    fill_values: tuple[float, ...] = ()
    groups: Array | None = None
    edge_features: Floats | None = None
    edge_feature_names: tuple[str, ...] = ()
    edge_times: TimedEdges | None = None

    def __post_init__(self) -> None:
        if self.nodes == 0:
            raise SignError(f"{self.name}: the graph has no nodes")
        for field in ("features", "labels"):
            rows = len(getattr(self, field))
            if rows != self.nodes:
                raise SignError(f"{self.name}: {rows} rows of {field} for {self.nodes} nodes")
        if self.features.ndim != 2 or self.features.shape[1] == 0:
            raise SignError(f"{self.name}: features of shape {self.features.shape} must have shape (nodes, columns)")
        self._check_names()
        self._check_edges()
        self._check_edge_data()
        self._check_features()
        self._check_splits()
        self._check_labels()

    @classmethod
    def from_edges(
        cls,
        edge_index: Any,
        x: Any,
        y: Any = None,
        *,
        train: Any = None,
        val: Any = None,
        test: Any = None,
        weights: Any = None,
        edge_features: Any = None,
        edge_times: Any = None,
        directed: bool = False,
        inductive: bool = False,
        class_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        node_ids: Any = None,
        groups: Any = None,
        name: str = "graph",
    ) -> "Graph":
        """Build a graph from arrays of numpy, torch or scipy.

        Parameters
        ----------
        edge_index
            Edges between nodes 0, 1, … as integers, 2 × m or m × 2, two arrays ``(source, target)``, or a sparse
            adjacency of scipy or torch, whose values are weights unless all are one. Edges of an undirected graph may
            be listed once or in both directions.
        x
            Features, one row per node; a sparse matrix of scipy stays sparse.
        y
            Labels: numbers of classes (-1: unknown), names of classes (None: unknown), or a 0/1 matrix with one
            column per label. None: no node has one, as in a graph that is only scored.
        train, val, test
            The nodes of each split, as a mask or as indices.
        weights
            One positive number per edge.
        edge_features
            One row of numbers per edge; an edge that is listed several times must have equal rows.
        edge_times
            One number per edge; an edge that is listed with several times has all of them.
        class_names, feature_names, node_ids
            What classes, features and nodes are called. Without ``class_names``, labels that are text name them.
        groups
            An integer or text per node, equal for nodes that belong together (``model.labels.by=groups``).

        Returns
        -------
        Graph
            The graph.

        Raises
        ------
        SignError
            If shapes, types or values are inconsistent.

        Examples
        --------
        >>> graph = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4), ["a", "b", "a", None], train=[0, 1], val=[2])
        >>> graph.nodes, graph.edges, graph.class_names, graph.labels
        (4, 3, ('a', 'b'), array([ 0,  1,  0, -1]))
        """
        from sign.graph import build

        features = build.features_of(x)
        nodes = features.shape[0]
        labels = build.labels_of(y, class_names, nodes)
        adjacency = build.adjacency_of(edge_index, weights, nodes, directed)
        return cls(
            name=name,
            adjacency=adjacency,
            features=features,
            labels=labels.values,
            classes=labels.classes,
            train=build.split_of("train", train, nodes),
            val=build.split_of("val", val, nodes),
            test=build.split_of("test", test, nodes),
            directed=directed,
            inductive=inductive,
            class_names=labels.names,
            feature_names=tuple(map(str, feature_names if feature_names is not None else ())),
            node_ids=build.ids_of(node_ids, nodes),
            groups=build.groups_of(groups),
            edge_features=build.edge_features_of(edge_index, edge_features, adjacency, directed),
            edge_times=build.edge_times_of(edge_index, edge_times, nodes, directed),
        )

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> "Graph":
        """Build a graph from a ``Data`` object of PyG.

        Parameters
        ----------
        data
            The object. Its ``x``, ``edge_index`` or ``adj_t``, ``edge_weight``, ``y``, ``train_mask``, ``val_mask``,
            ``test_mask`` and, if present, ``class_names``, ``feature_names`` and ``node_ids`` are used.
        options
            Those of :meth:`from_edges`, which replace what the object has.

        Returns
        -------
        Graph
            The graph.
        """
        from sign.graph.build import pyg_arguments

        return cls.from_edges(**{"name": "pyg", **pyg_arguments(data), **options})

    @classmethod
    def from_networkx(
        cls,
        g: Any,
        features: str = "x",
        labels: str = "y",
        split: str = "split",
        weight: str = "weight",
        **options: Any,
    ) -> "Graph":
        """Build a graph from a graph of networkx, whose nodes are numbered in its order.

        Parameters
        ----------
        g
            The graph of networkx.
        features, labels, split
            The attributes of nodes with a number or a row of numbers, a label, and ``train``, ``val`` or ``test``;
            labels and splits may be missing.
        weight
            The attribute of edges with their weight; where it is missing, the weight is one.
        options
            Those of :meth:`from_edges`, which replace what the graph has.

        Returns
        -------
        Graph
            The graph.
        """
        from sign.graph.build import networkx_arguments

        return cls.from_edges(
            **{"name": "networkx", **networkx_arguments(g, features, labels, split, weight), **options}
        )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.adjacency.nodes

    @property
    def edges(self) -> int:
        """Number of edges; of an undirected graph each is counted once, and so is each self-loop."""
        entries, loops = self.adjacency.entries, self.adjacency.self_loops
        return entries if self.directed else (entries + loops) // 2

    @property
    def multilabel(self) -> bool:
        """Whether a node may have several labels."""
        return self.labels.ndim == 2

    @cached_property
    def undirected(self) -> CSR:
        r"""The symmetric adjacency, which is :math:`W = ½(W_d + W_d^⊤)` for a directed graph."""
        return symmetrize(self.adjacency) if self.directed else self.adjacency

    @cached_property
    def features_digest(self) -> str:
        """Content hash of the features."""
        return self.features.digest if isinstance(self.features, SparseFeatures) else digest(self.features)

    @cached_property
    def edge_data_digests(self) -> dict[str, str]:
        """Content hashes of the features and of the times of edges, if there are any, by field."""
        features = {} if self.edge_features is None else {"edge_features": digest(self.edge_features)}
        return features if self.edge_times is None else {**features, "edge_times": self.edge_times.digest}

    def nodes_of(self, split: str) -> Array:
        """Select the nodes of a split.

        Parameters
        ----------
        split
            ``train``, ``val`` or ``test``.

        Returns
        -------
        numpy.ndarray
            Sorted node indices.
        """
        nodes: Array = getattr(self, split)
        return nodes

    def induced_by_training(self) -> "Graph":
        """Return the subgraph induced by the training nodes, without any data of other nodes."""
        if isinstance(self.features, SparseFeatures):
            features: Features = self.features.select_rows(self.train)
        else:
            features = arrays.copy_rows(self.features, self.train)
        empty = np.empty(0, np.int64)
        return replace(
            self,
            adjacency=induced_subgraph(self.adjacency, self.train),
            features=features,
            labels=self.labels[self.train],
            node_ids=None if self.node_ids is None else self.node_ids[self.train],
            groups=None if self.groups is None else self.groups[self.train],
            train=np.arange(len(self.train)),
            val=empty,
            test=empty,
            edge_features=None
            if self.edge_features is None
            else induced_features(self.edge_features, self.adjacency, self.train),
            edge_times=None if self.edge_times is None else self.edge_times.induced(self.train),
        )

    def _check_names(self) -> None:
        sizes = {"class_names": self.classes, "feature_names": self.features.shape[1], "node_ids": self.nodes}
        for field, size in sizes.items():
            names = getattr(self, field)
            if names is not None and len(names) not in ((size,) if field == "node_ids" else (0, size)):
                raise SignError(f"{self.name}: {len(names)} {field} for {size}")
        if self.groups is not None and (self.groups.shape != (self.nodes,) or self.groups.dtype.kind not in "iu"):
            raise SignError(
                f"{self.name}: groups of type {self.groups.dtype} and shape {self.groups.shape} for {self.nodes} "
                "nodes; give each node the number of its group"
            )

    def _check_edges(self) -> None:
        if not self.adjacency.is_canonical():
            raise SignError(f"{self.name}: adjacency columns are unsorted, duplicated or no nodes; use CSR.from_edges")
        if self.adjacency.weights is not None:
            check_weights(self.adjacency.weights, self.adjacency.entries)
        if not self.directed and not self.adjacency.is_symmetric():
            raise SignError(
                f"{self.name}: an edge of the undirected graph lacks its reverse; add it, or set directed=True"
            )

    def _check_edge_data(self) -> None:
        if self.edge_features is not None:
            shape, names = self.edge_features.shape, self.edge_feature_names
            if len(shape) != 2 or shape[0] != self.adjacency.entries or not shape[1] or len(names) not in (0, shape[1]):
                raise SignError(
                    f"{self.name}: edge features of shape {shape} with {len(names)} names for "
                    f"{self.adjacency.entries} entries; use Graph.from_edges"
                )
            found = first_value(self.edge_features, lambda values: ~np.isfinite(values))
            if found is not None:
                row = int(np.searchsorted(self.adjacency.indptr, found[0], "right")) - 1
                ends = (quoted_name(self.node_ids, node) for node in (row, int(self.adjacency.indices[found[0]])))
                raise SignError(
                    f"{self.name}: edge feature {quoted_name(names, found[1])} of the edge from {' to '.join(ends)} is "
                    f"{found[2]}; replace missing and infinite values first"
                )
            if not self.directed and not are_symmetric(self.edge_features, self.adjacency):
                raise SignError(
                    f"{self.name}: the features of an edge of the undirected graph differ from those of its reverse"
                )
        if self.edge_times is not None and not (self.edge_times.nodes == self.nodes and self.edge_times.is_valid()):
            raise SignError(f"{self.name}: the times of edges are not finite, not sorted or not between nodes")

    def _check_features(self) -> None:
        if self.features.dtype.kind not in "fiub":
            raise SignError(f"{self.name}: features of type {self.features.dtype} must be numeric")
        found = first_value(self.features, lambda values: ~np.isfinite(values))
        if found is not None:
            node, column, value = found
            raise SignError(
                f"{self.name}: feature {quoted_name(self.feature_names, column)} of node "
                f"{quoted_name(self.node_ids, node)} is {value}; replace missing and infinite values first"
            )

    def _check_splits(self) -> None:
        assigned = np.zeros(self.nodes, np.bool_)
        for split in SPLITS:
            nodes = self.nodes_of(split)
            if nodes.dtype.kind not in "iu":
                raise SignError(f"{self.name}: the {split} split has type {nodes.dtype}; node indices must be integers")
            if len(nodes) and (nodes.min() < 0 or nodes.max() >= self.nodes):
                raise SignError(f"{self.name}: the {split} split contains a node that does not exist")
            if len(nodes) and (np.diff(nodes) <= 0).any():
                raise SignError(f"{self.name}: the nodes of the {split} split are not sorted, or one is duplicated")
            if assigned[nodes].any():
                node = quoted_name(self.node_ids, nodes[assigned[nodes]][0])
                raise SignError(f"{self.name}: node {node} of the {split} split is also in another split")
            assigned[nodes] = True

    def _check_labels(self) -> None:
        used = self.labels[np.concatenate([self.nodes_of(split) for split in SPLITS])]
        if self.multilabel:
            if self.labels.shape[1] != self.classes or not np.isin(used, (0, 1)).all():
                raise SignError(f"{self.name}: labels must be a 0/1 matrix with {self.classes} columns")
        elif len(used) and (used.min() < 0 or used.max() >= self.classes):
            label = used.min() if used.min() < 0 else used.max()
            raise SignError(f"{self.name}: label {label} of a node in a split is not in 0 to {self.classes - 1}")
