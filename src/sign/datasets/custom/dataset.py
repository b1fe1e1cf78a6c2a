"""A user's graph, from files with conventional names; the documentation describes the layout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.custom.folder import GraphParts, find_files, read_folder
from sign.datasets.custom.pyg_data import read_pyg
from sign.datasets.sampling import split_by_fraction
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array
from sign.graph.graph import SPLITS, Graph
from sign.system.hashing import file_digest
from sign.validation import Range, Seed

FILES = ("edges", "nodes", "features", "labels", *SPLITS)


@dataclass(frozen=True, kw_only=True)
class Custom(Dataset):
    """Files in the folder ``path``, or a ``Data`` of PyG. A setting such as ``edges`` selects another file.

    An undirected graph may list its edges once or in both directions. Without splits in the files, fractions of the
    labelled nodes are drawn with ``split_seed``.
    """

    name: str = "custom"
    path: str
    edges: str | None = None
    nodes: str | None = None
    features: str | None = None
    labels: str | None = None
    train: str | None = None
    val: str | None = None
    test: str | None = None
    directed: bool = False
    split_seed: Seed = 0
    train_fraction: Annotated[float, Range(0.01, 0.98)] = 0.6
    val_fraction: Annotated[float, Range(0.01, 0.98)] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not Path(self.path).exists():
            raise FieldError("path", self.path, "there is no such folder or file")
        if self.train_fraction + self.val_fraction > 0.99:
            raise FieldError("val_fraction", self.val_fraction, "training and validation leave no test nodes")

    def load(self) -> Graph:
        """Read the files and build the graph."""
        parts = self._read()
        splits = parts.splits or self._draw(parts.labels)
        self._check_labels(parts.labels, splits)
        return Graph(
            name=self.name,
            adjacency=self._adjacency(parts),
            features=parts.features,
            labels=parts.labels,
            classes=parts.classes,
            directed=self.directed,
            inductive=self.inductive,
            **splits,
        )

    def content_digest(self) -> str:
        """Hash of the files that are read."""
        path = Path(self.path)
        return file_digest(*(find_files(path, self._file_names).values() if path.is_dir() else [path]))

    @property
    def _file_names(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in FILES}

    def _read(self) -> GraphParts:
        path = Path(self.path)
        return read_folder(path, self._file_names) if path.is_dir() else read_pyg(path)

    def _adjacency(self, parts: GraphParts) -> CSR:
        edges = (parts.source, parts.target, len(parts.features), parts.weights)
        if parts.weights is not None and not self.directed:
            # If the file has both directions, adding reverse edges would double the weights.
            listed = CSR.from_edges(*edges)
            if listed.is_symmetric():
                return listed
        return CSR.from_edges(*edges, both=not self.directed)

    def _draw(self, labels: Array) -> dict[str, Array]:
        labelled = np.flatnonzero(_is_labelled(labels))
        drawn = split_by_fraction(len(labelled), self.train_fraction, self.val_fraction, self.split_seed)
        return {split: labelled[positions] for split, positions in zip(SPLITS, drawn, strict=True)}

    def _check_labels(self, labels: Array, splits: dict[str, Array]) -> None:
        for split, nodes in splits.items():
            unknown = nodes[~_is_labelled(labels)[nodes]]
            if len(unknown):
                raise SignError(
                    f"dataset.path={self.path}: node {unknown[0]} is in the {split} split, but has no label"
                )


def _is_labelled(labels: Array) -> Array:
    return np.asarray(labels >= 0 if labels.ndim == 1 else (labels >= 0).all(axis=1))
