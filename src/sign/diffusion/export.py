"""The hops of one configuration in one folder, which trains elsewhere without the graph."""

import json
import shutil
from pathlib import Path

import numpy as np

from sign.datasets.exported_hops import DESCRIPTION, HOPS, LABELS, ROWS
from sign.diffusion.precompute import Hops, Precomputation
from sign.errors import SignError
from sign.graph.classification import NodeClassification
from sign.store.store import Store
from sign.system import arrays
from sign.system.hashing import digest


def check_folder(folder: Path) -> None:
    """Refuse a folder that is not new or empty, before anything is computed."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SignError(f"path={folder}: is not empty; choose a new folder")


def export(source: Precomputation, classification: NodeClassification, hops: Hops, folder: Path) -> int:
    """Write the rows used of every hop, the labels and the splits; returns the bytes written.

    The card is written last: a folder that was left half-written is none.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _write(source, classification, hops, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _write(source: Precomputation, classification: NodeClassification, hops: Hops, folder: Path) -> None:
    target = Store(str(folder / HOPS), source.store.dtype)
    scopes = {scope.name: scope for scope in classification.scopes}
    for hop in hops.every:
        scope = scopes[hop.chain.key["scope"]]
        key = {name: value for name, value in hop.chain.key.items() if name not in ("format", "dtype")}
        key["rows"] = None if scope.used_nodes is None else digest(scope.used_nodes)
        nodes = np.arange(scope.nodes) if scope.used_nodes is None else scope.used_nodes
        chain = target.chain(classification.name, **key)
        with chain.locked(lambda: None), chain.draft(hop.power, (len(nodes), scope.features)) as draft:
            for place, values in arrays.gather(hop.array, hop.places(nodes)):
                draft.array[place] = values
            draft.commit(hop.seconds, hop.products)
    rows = {split: nodes for scope in classification.scopes for split, nodes in scope.rows.items()}
    for split, labels in classification.labels.items():
        np.save(folder / LABELS.format(split=split), labels, allow_pickle=False)
    for scope in classification.scopes:
        for split, nodes in scope.rows.items():
            np.save(folder / ROWS.format(scope=scope.name, split=split), nodes, allow_pickle=False)
    card = {
        "name": classification.name,
        "summary": classification.summary,
        "classes": classification.classes,
        "multilabel": classification.multilabel,
        "feature_scaling": source.feature_scaling,
        "dtype": source.store.dtype,
        "digest": digest(*classification.labels.values(), *(rows[split] for split in classification.labels)),
        "hops": sorted({hop.name for hop in hops.every}),
        "scopes": [
            {
                "name": scope.name,
                "nodes": scope.nodes,
                "features": scope.features,
                "splits": list(scope.rows),
                "source": scope.source,
            }
            for scope in classification.scopes
        ],
    }
    (folder / DESCRIPTION).write_text(json.dumps(card, indent=2) + "\n")
