"""A user's graph, from files with conventional names; the documentation describes the layout."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.custom.adjacency import build_adjacency, build_edge_features, build_edge_times
from sign.datasets.custom.arrays import MAX_COLUMNS
from sign.datasets.custom.edge_columns import EdgeColumns
from sign.datasets.custom.edges import Edges
from sign.datasets.custom.feature_columns import ColumnSettings
from sign.datasets.custom.folder import GraphParts, Splits, check_split_labels, file_names, find_files, read_folder
from sign.datasets.custom.generated_features import Method, degree_features, one_hot_features, random_features
from sign.datasets.custom.labels import Labels
from sign.datasets.custom.missing_values import Fill, fill_missing
from sign.datasets.custom.pyg_data import read_pyg
from sign.datasets.sampling import split_by_fraction
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Combine
from sign.graph.features import Features
from sign.graph.graph import SPLITS, Graph
from sign.system.hashing import file_digest
from sign.validation import Range, Seed

FILES = ("edges", "nodes", "features", "labels", *SPLITS)


@dataclass(frozen=True, kw_only=True)
class Custom(Dataset):
    """Files in the folder ``path``, or a ``Data`` of PyG. A setting such as ``edges`` selects another file.

    An undirected graph may list its edges once or in both directions. Without splits in the files, fractions of the
    labelled nodes are drawn with ``split_seed``. Without a ``name`` it is that of the folder or file.
    """

    name: str = ""
    path: str
    edges: str | None = None
    nodes: str | None = None
    features: str | None = None
    labels: str | None = None
    train: str | None = None
    val: str | None = None
    test: str | None = None
    directed: bool = False
    combine: Combine = "error"
    ignore: list[str] = field(default_factory=list)
    one_hot: list[str] = field(default_factory=list)
    edge_features: list[str] = field(default_factory=list)
    edge_time: str | None = None
    groups: str | None = None
    fill: Fill | None = None
    generate_features: Method | None = None
    feature_size: Annotated[int, Range(1, MAX_COLUMNS)] = 256
    feature_seed: Seed = 0
    split_seed: Seed = 0
    train_fraction: Annotated[float, Range(0.01, 0.98)] = 0.6
    val_fraction: Annotated[float, Range(0.01, 0.98)] = 0.2
    # of a trained model that the graph is for: the means that fill=mean uses, and the features, whose categories count
    fill_values: list[float] | None = None
    known_features: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", _name_of(Path(str(self.path))))
        super().__post_init__()
        if not Path(self.path).exists():
            raise FieldError("path", self.path, "there is no such folder or file")
        if self.train_fraction + self.val_fraction > 0.99:
            raise FieldError("val_fraction", self.val_fraction, "training and validation leave no test nodes")

    def load(self) -> Graph:
        """Read the files and build the graph."""
        return self._build(self._read())

    def load_for_prediction(self) -> Graph:
        """Read the files and build the graph; labels may be missing."""
        return self._build(self._read(labelled=False))

    def _build(self, parts: GraphParts) -> Graph:
        check_split_labels(parts, f"dataset.path={self.path}")
        adjacency = build_adjacency(parts.edges, len(parts.labels), self.directed, self.combine, parts.node_ids)
        features, feature_names, fill_values = self._features(parts, adjacency)
        return Graph(
            name=self.name,
            adjacency=adjacency,
            features=features,
            labels=parts.labels.values,
            classes=parts.labels.classes,
            train=parts.splits["train"],
            val=parts.splits["val"],
            test=parts.splits["test"],
            directed=self.directed,
            inductive=self.inductive,
            class_names=parts.labels.names,
            feature_names=feature_names,
            node_ids=parts.node_ids,
            fill_values=fill_values,
            groups=parts.groups,
            edge_features=build_edge_features(parts.edges, adjacency, self.directed, self.combine, parts.node_ids),
            edge_feature_names=self._edge_feature_names(parts.edges),
            edge_times=build_edge_times(parts.edges, adjacency.nodes, self.directed),
        )

    def _edge_feature_names(self, edges: Edges) -> tuple[str, ...]:
        """Return the names of columns; a tensor or array with several columns has none."""
        named = edges.features is not None and edges.features.shape[1] == len(self.edge_features)
        return tuple(self.edge_features) if named else ()

    def content_digest(self) -> str:
        """Hash of the files that are read."""
        path = Path(self.path)
        if not path.is_dir():
            return file_digest(path)
        names = (*self._edge_columns.names, *(() if self.groups is None else (self.groups,)))
        others = [file for name in names if (file := path / name).is_file()]
        return file_digest(*find_files(path, self._file_names).values(), *others)

    @property
    def _file_names(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in FILES}

    def _read(self, labelled: bool = True) -> GraphParts:
        path, columns = Path(self.path), ColumnSettings(self.ignore, self.one_hot, self.inductive, self.known_features)
        if path.is_dir():
            return read_folder(path, self._file_names, columns, self._draw, labelled, self._edge_columns, self.groups)
        columns.check()
        return read_pyg(path, self._draw, labelled, self._edge_columns, self.groups)

    @property
    def _edge_columns(self) -> EdgeColumns:
        return EdgeColumns(tuple(self.edge_features), self.edge_time)

    def _features(self, parts: GraphParts, adjacency: CSR) -> tuple[Features, tuple[str, ...], tuple[float, ...]]:
        """Return the features of the files or generate them, their names, and the means that missing ones have."""
        if parts.features is not None:
            if self.generate_features is not None:
                rule = "the files have features; remove the setting, or leave their columns out with dataset.ignore"
                raise SignError(f"dataset.generate_features={self.generate_features}: {rule}")
            names = parts.feature_names
            train = parts.splits["train"]
            features, means = fill_missing(
                self.name, parts.features, self.fill, train, names, parts.node_ids, self.fill_values
            )
            return features, names, means
        if self.generate_features == "degree":
            among = parts.splits["train"] if self.inductive else None
            return *degree_features(adjacency, self.directed, among), ()
        if self.generate_features == "one_hot":
            return one_hot_features(adjacency.nodes), (), ()
        if self.generate_features == "random":
            return random_features(adjacency.nodes, parts.node_ids, self.feature_size, self.feature_seed), (), ()
        looked = f"{file_names('features')} and columns in the nodes table" if Path(self.path).is_dir() else "x"
        raise SignError(
            f"dataset.path={self.path}: there are no features; looked for {looked}; "
            "add them, or set dataset.generate_features=degree, one_hot or random"
        )

    def _draw(self, labels: Labels) -> Splits:
        labelled = np.flatnonzero(labels.known)
        drawn = split_by_fraction(len(labelled), self.train_fraction, self.val_fraction, self.split_seed)
        return {split: labelled[positions] for split, positions in zip(SPLITS, drawn, strict=True)}


def _name_of(path: Path) -> str:
    """Return the name of a folder or file, with hyphens for characters that are not safe in a folder name."""
    full = path.resolve()
    name = full.name if full.is_dir() else full.stem
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "custom"
