"""A user's graph in two Parquet tables, edges and nodes; the documentation describes their columns."""

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, cast

from sign.datasets.base import Dataset
from sign.datasets.custom.adjacency import build_adjacency
from sign.datasets.custom.arrays import MAX_COLUMNS
from sign.datasets.custom.folder import GraphParts, check_split_labels
from sign.datasets.custom.parquet.drawn_splits import DrawnSplits
from sign.datasets.custom.parquet.files import ParquetFiles, is_address
from sign.datasets.custom.parquet.node_columns import NodeColumns
from sign.datasets.custom.parquet.read import read_parts
from sign.errors import FieldError, SignError
from sign.graph.csr import Combine
from sign.graph.features import Features
from sign.graph.graph import Graph
from sign.system.hashing import file_digest
from sign.validation import Range, Seed


@dataclass(frozen=True, kw_only=True)
class Parquet(Dataset):
    """Edges and nodes in a Parquet file each, or in folders of files; nodes are numbered in the order of their ids.

    An undirected graph may list its edges once or in both directions. Without a column of splits, they are drawn by
    the ids of the labelled nodes. Without a ``name`` it is that of the folder that contains the edges.
    """

    name: str = ""
    edges: str
    nodes: str
    directed: bool = False
    combine: Combine = "error"
    ignore: list[str] = field(default_factory=list)
    feature_size: Annotated[int | None, Range(1, MAX_COLUMNS)] = None
    split_seed: Seed = 0
    train_fraction: Annotated[float, Range(0.01, 0.98)] = 0.6
    val_fraction: Annotated[float, Range(0.01, 0.98)] = 0.2

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", _name_of(str(self.edges)))
        super().__post_init__()
        for setting in ("edges", "nodes"):
            address = getattr(self, setting)
            if not is_address(address) and not Path(address).exists():
                raise FieldError(setting, address, "there is no such folder or file")
        if self.train_fraction + self.val_fraction > 0.99:
            raise FieldError("val_fraction", self.val_fraction, "training and validation leave no test nodes")

    def load(self) -> Graph:
        """Read the tables and build the graph."""
        nodes = ParquetFiles.open(self.nodes, "dataset.nodes")
        columns = NodeColumns.of(nodes.header, self.ignore)
        if not columns.labels:
            raise SignError(f"dataset.nodes={self.nodes}: has no labels; add a column label, or columns label_…")
        return self._build(nodes, columns)

    def load_for_prediction(self) -> Graph:
        """Read the tables and build the graph; labels may be missing."""
        nodes = ParquetFiles.open(self.nodes, "dataset.nodes")
        return self._build(nodes, NodeColumns.of(nodes.header, self.ignore))

    def content_digest(self) -> str | None:
        """Hash of the files, if they are on this machine."""
        tables = (ParquetFiles.open(getattr(self, name), f"dataset.{name}") for name in ("edges", "nodes"))
        files = [file for table in tables for file in table.local_files()]
        return file_digest(*files) if files else None

    @property
    def drawn_splits(self) -> DrawnSplits:
        """How splits are drawn if the nodes have none."""
        return DrawnSplits(self.split_seed, self.train_fraction, self.val_fraction)

    def _build(self, nodes: ParquetFiles, columns: NodeColumns) -> Graph:
        edges = ParquetFiles.open(self.edges, "dataset.edges")
        parts: GraphParts = read_parts(edges, nodes, columns, self.drawn_splits, self.feature_size)
        check_split_labels(parts, f"dataset.nodes={self.nodes}")
        adjacency = build_adjacency(parts.edges, len(parts.labels), self.directed, self.combine, parts.node_ids)
        return Graph(
            name=self.name,
            adjacency=adjacency,
            features=cast(Features, parts.features),  # every table of nodes has some
            labels=parts.labels.values,
            classes=parts.labels.classes,
            train=parts.splits["train"],
            val=parts.splits["val"],
            test=parts.splits["test"],
            directed=self.directed,
            inductive=self.inductive,
            class_names=parts.labels.names,
            feature_names=parts.feature_names,
            node_ids=parts.node_ids,
        )


def _name_of(address: str) -> str:
    """Return the name of the folder that contains the edges, with hyphens for characters that are unsafe in paths."""
    parent = PurePosixPath(address).parent if is_address(address) else Path(address).resolve().parent
    return re.sub(r"[^\w.-]+", "-", parent.name).strip(".-") or "parquet"
