"""Exported hops without their graph, as written by ``store.py action=export`` on this machine or on a cluster."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.exported_rows import ExportedRows, labels_of_split
from sign.datasets.pack_checks import check_labels, check_rows, read_description
from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.classification import NodeClassification, Scope
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import SPLITS, Graph
from sign.system.arrays import open_npy
from sign.system.hashing import digest, file_digest
from sign.system.program import command_line
from sign.validation import check_name

DESCRIPTION = "pack.json"
LABELS = "labels-{split}.npy"
ROWS = "rows-{scope}-{split}.npy"
HOPS = "hops"  # the folder of the store


@dataclass(frozen=True, kw_only=True)
class ExportedHops(Dataset):
    """Labels, splits and hops of one data set. Other hops cannot be computed: there is no graph."""

    path: str

    def load(self) -> Graph:
        """Raise :class:`SignError`: exported hops have no graph."""
        raise SignError(f"dataset.path={self.path}: exported hops have no graph")

    def content_digest(self) -> str | None:
        """Hash of the description, which contains digests of graph, labels and splits."""
        description = Path(self.path) / DESCRIPTION
        return file_digest(description) if description.is_file() else None

    def classification(self, feature_scaling: str | FeatureScaling) -> NodeClassification:
        """Return the exported node classification."""
        folder = Path(self.path)
        if not (folder / DESCRIPTION).is_file():
            raise SignError(
                f"dataset.path={self.path}: there are no exported hops; "
                f"export them with {command_line('store')} action=export path=…"
            )
        with read_errors(f"dataset.path={self.path}", "exported hops", "export them again"):
            classification = _classification(folder)
        exported = classification.feature_scaling
        if isinstance(feature_scaling, FeatureScaling):
            if feature_scaling.fingerprint != exported.fingerprint:
                raise SignError(f"dataset.path={self.path}: its features are scaled otherwise than those of the model")
        elif feature_scaling != exported.method:
            raise SignError(
                f"scaling.features={feature_scaling}: the hops of {self.path} were exported with "
                f"scaling.features={exported.method}"
            )
        return classification


def _classification(folder: Path) -> NodeClassification:
    """Return the node classification of consistent files."""
    description = read_description(folder / DESCRIPTION)
    if "rows" in description:
        return _classification_of_rows(folder, description)
    scopes = [_scope(folder, scope, description["classes"]) for scope in description["scopes"]]
    labels = {split: np.array(open_npy(folder / LABELS.format(split=split))) for split in SPLITS}
    rows = {split: nodes for scope in scopes for split, nodes in scope.rows.items()}
    if description["digest"] != digest(*labels.values(), *(rows[split] for split in SPLITS)):
        raise ValueError("labels or splits have changed")
    return _checked(description, labels, scopes, folder / HOPS)


def _classification_of_rows(folder: Path, description: dict[str, Any]) -> NodeClassification:
    """Return the node classification of Parquet files, whose hops are copied to the store when they are first used."""
    rows, labels = {}, {}
    for split in SPLITS:
        rows[split], labels[split] = labels_of_split(folder, split)
        if len(rows[split]) != description["rows"][split]:
            raise ValueError(f"{len(rows[split])} rows of {split}, of {description['rows'][split]} that were exported")
    if description["multilabel"]:
        labels = {split: own.reshape(len(own), description["classes"]) for split, own in labels.items()}
    scopes = []
    for own in description["scopes"]:
        exported = ExportedRows(folder, tuple(own["splits"]), own["features"], description["operators"])
        nodes = {split: rows[split] for split in own["splits"]}
        scopes.append(replace(_scope_of(own, nodes, description["classes"]), exported=exported))
    return _checked(description, labels, scopes, None)


def _checked(
    description: dict[str, Any], labels: dict[str, Array], scopes: list[Scope], store: Path | None
) -> NodeClassification:
    """Return the node classification of labels and scopes that fit each other and the description."""
    check_labels(labels, description["classes"], description["multilabel"])
    for scope in scopes:
        check_rows(scope, labels)
    check_name(description["name"])
    fields = {name: description[name] for name in ("name", "summary", "classes", "multilabel", "dtype")}
    return NodeClassification(
        **fields,
        labels=labels,
        scopes=scopes,
        store=store,
        class_names=tuple(map(str, description["class_names"])),
        feature_names=tuple(description["feature_names"]),
        feature_scaling=FeatureScaling.from_plain(description["feature_scaling"]),
    )


def _scope(folder: Path, description: dict[str, Any], classes: int) -> Scope:
    check_name(description["name"], "scope")
    files = {split: folder / ROWS.format(scope=description["name"], split=split) for split in description["splits"]}
    return _scope_of(description, {split: np.array(open_npy(file)) for split, file in files.items()}, classes)


def _scope_of(description: dict[str, Any], rows: dict[str, Array], classes: int) -> Scope:
    check_name(description["name"], "scope")
    fields = {name: description[name] for name in ("name", "nodes", "features", "source", "labels")}
    return Scope(rows=rows, classes=classes, **fields)
