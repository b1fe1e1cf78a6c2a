"""Export the hops of one configuration to a folder that trains elsewhere without the graph."""

from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.exported_hops import DESCRIPTION, HOPS, LABELS, ROWS
from sign.diffusion.hops import Hop, Hops
from sign.diffusion.learned import copy_parameters
from sign.diffusion.precompute import Precomputation
from sign.graph.classification import NodeClassification, Scope
from sign.store.store import Store
from sign.system import arrays
from sign.system.atomic_files import new_folder, write_json
from sign.system.hashing import digest


def export(source: Precomputation, classification: NodeClassification, hops: Hops, folder: Path) -> int:
    """Write the used rows of every hop, the labels and the splits; return the number of bytes.

    The export is atomic: it is written beside ``folder`` under a temporary name and renamed at the end.
    """
    with new_folder(folder) as temporary:
        _write(source, classification, hops, temporary)
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _write(source: Precomputation, classification: NodeClassification, hops: Hops, folder: Path) -> None:
    store = Store(str(folder / HOPS), source.store.dtype)
    scopes = {scope.name: scope for scope in classification.scopes}
    for hop in hops.every:
        _copy_hop(hop, scopes[hop.folder.key["scope"]], store, classification.name)
    for operator in hops.learned.values():
        copy_parameters(operator, classification.name, store)
    rows = {split: nodes for scope in classification.scopes for split, nodes in scope.rows.items()}
    for split, labels in classification.labels.items():
        np.save(folder / LABELS.format(split=split), labels, allow_pickle=False)
    for scope in classification.scopes:
        for split, nodes in scope.rows.items():
            np.save(folder / ROWS.format(scope=scope.name, split=split), nodes, allow_pickle=False)
    description: dict[str, Any] = {
        "name": classification.name,
        "summary": classification.summary,
        "classes": classification.classes,
        "class_names": list(classification.class_names),
        "multilabel": classification.multilabel,
        "feature_names": list(classification.feature_names),
        "feature_scaling": classification.feature_scaling.to_plain(),
        "dtype": source.store.dtype,
        "digest": digest(*classification.labels.values(), *(rows[split] for split in classification.labels)),
        "hops": sorted({hop.name for hop in hops.every}),
        "scopes": [
            {name: getattr(scope, name) for name in ("name", "nodes", "features", "source", "labels")}
            | {"splits": list(scope.rows)}
            for scope in classification.scopes
        ],
    }
    write_json(folder / DESCRIPTION, description)


def _copy_hop(hop: Hop, scope: Scope, store: Store, dataset: str) -> None:
    """Copy the used rows of a hop to another store."""
    key = {name: value for name, value in hop.folder.key.items() if name not in ("format", "dtype")}
    key["rows"] = None if scope.used_nodes is None else digest(scope.used_nodes)
    nodes = np.arange(scope.nodes) if scope.used_nodes is None else scope.used_nodes
    folder = store.folder(dataset, **key)
    with folder.locked(), folder.draft(hop.power, (len(nodes), hop.array.shape[1])) as draft:
        for position, values in arrays.gather(hop.array, hop.positions(nodes)):
            draft.write(position, values)
        draft.commit(hop.seconds, hop.products)
