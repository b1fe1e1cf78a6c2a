"""Hops that were computed elsewhere, without their graph: what ``store.py action=export`` writes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.base import Dataset, check_name
from sign.errors import SignError
from sign.graph.classification import NodeClassification, Scope
from sign.graph.graph import SPLITS, Graph
from sign.system.hashing import digest, file_digest

CARD = "pack.json"  # what the folder holds
LABELS = "labels-{split}.npy"
ROWS = "rows-{scope}-{split}.npy"
HOPS = "hops"  # a store of its own


@dataclass(frozen=True, kw_only=True)
class ExportedHops(Dataset):
    """Labels, splits and hops of one data set. Nothing can be computed on it: it has no graph."""

    path: str

    def load(self) -> Graph:
        """There is none."""
        raise SignError(f"dataset.path={self.path}: a pack of hops has no graph")

    def content_digest(self) -> str | None:
        """Hash of the card, which holds digests of graph, labels and splits."""
        card = Path(self.path) / CARD
        return file_digest(card) if card.is_file() else None

    def classification(self, feature_scaling: str) -> NodeClassification:
        """What was exported."""
        folder = Path(self.path)
        if not (folder / CARD).is_file():
            raise SignError(
                f"dataset.path={self.path}: no pack of hops there; make one with src/store.py action=export"
            )
        try:
            classification, scaling = _classification(folder)
        except (KeyError, TypeError, ValueError, IndexError, EOFError, OSError) as error:
            raise SignError(
                f"dataset.path={self.path}: the pack is damaged ({error}); export it again"
            ) from error
        if feature_scaling != scaling:
            raise SignError(
                f"scaling.features={feature_scaling}: the pack {self.path} was exported with "
                f"scaling.features={scaling}"
            )
        return classification


def _classification(folder: Path) -> tuple[NodeClassification, str]:
    """What the files say, if they belong together, and how features were scaled."""
    card = json.loads((folder / CARD).read_text())
    scopes = [_scope(folder, scope) for scope in card["scopes"]]
    labels = {split: _read(folder / LABELS.format(split=split)) for split in SPLITS}
    rows = {split: nodes for scope in scopes for split, nodes in scope.rows.items()}
    if card["digest"] != digest(*labels.values(), *(rows[split] for split in SPLITS)):
        raise ValueError("labels or splits were changed")
    check_name(card["name"])
    classification = NodeClassification(
        name=card["name"],
        summary=card["summary"],
        classes=card["classes"],
        multilabel=card["multilabel"],
        labels=labels,
        scopes=scopes,
        store=folder / HOPS,
        dtype=card["dtype"],
    )
    return classification, card["feature_scaling"]


def _scope(folder: Path, card: dict[str, Any]) -> Scope:
    rows = {split: _read(folder / ROWS.format(scope=card["name"], split=split)) for split in card["splits"]}
    return Scope(card["name"], card["nodes"], card["features"], rows, card["source"])


def _read(file: Path) -> Any:
    return np.load(file, allow_pickle=False)
