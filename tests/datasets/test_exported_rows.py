"""Hops that a cluster exported as Parquet train like the hops of this machine."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from common.parquet_tables import write_files

from sign.datasets.exported_hops import DESCRIPTION, ExportedHops
from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.graph.classification import NodeClassification, classification_of
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import SPLITS
from sign.operators.adjacency import NormalizedAdjacency
from sign.store.store import Store

POWERS = {"p": (NormalizedAdjacency(), 2)}


def hops_of(classification: NodeClassification, folder: Path, p: int = 2) -> Hops:
    return diffuse(classification, {"p": (NormalizedAdjacency(), p)}, LocalEngine(), Store(str(folder)))


def write_pack(folder: Path, classification: NodeClassification, hops: Hops) -> None:
    """Write what executors write: rows in any order, in several files per split."""
    scopes: list[dict[str, Any]] = []
    for scope in classification.scopes:
        for split, nodes in scope.rows.items():
            arrays = zip(hops.names, hops.arrays[split], hops.rows[split], strict=True)
            columns = {name: pa.array(array[rows].tolist(), pa.list_(pa.float32())) for name, array, rows in arrays}
            labels = classification.labels[split]
            label = pa.array(labels.tolist(), pa.list_(pa.int8()) if labels.ndim == 2 else pa.int32())
            if len(nodes):
                write_files(folder / "rows" / f"split={split}", {"node": nodes, "label": label, **columns})
        source = {"scope": scope.name, "features": "id", "scaling": "none", "adjacency": "id", "directed": False}
        fields = {"name": scope.name, "nodes": scope.nodes, "features": scope.features, "labels": "id"}
        scopes.append({**fields, "splits": list(scope.rows), "source": {**source, "inductive": len(scopes) > 1}})
    description = {
        **{
            "name": "x",
            "summary": "a graph",
            "classes": classification.classes,
            "multilabel": classification.multilabel,
        },
        **{"dtype": "float32", "digest": "id", "scopes": scopes, "class_names": [], "feature_names": []},
        "feature_scaling": FeatureScaling("none").to_plain(),
        "rows": {split: len(labels) for split, labels in classification.labels.items()},
        "operators": {"p": {"powers": 2, **NormalizedAdjacency().describe()}},
    }
    (folder / DESCRIPTION).write_text(json.dumps(description))


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("multilabel", [False, True])
def test_rows_equal_those_that_were_exported(inductive: bool, multilabel: bool, tmp_path: Path) -> None:
    graph = Communities(nodes=90, edges=300, features=4, inductive=inductive, multilabel=multilabel).load()
    expected = classification_of(graph)
    hops = hops_of(expected, tmp_path / "local")
    write_pack(tmp_path / "pack", expected, hops)
    found = ExportedHops(name="pack", path=str(tmp_path / "pack")).classification("none")
    copied = hops_of(found, tmp_path / "store")
    assert copied.names == hops.names
    for split in SPLITS:
        assert (found.labels[split] == expected.labels[split]).all()
        for number in range(len(hops.names)):
            ours, theirs = (each.arrays[split][number][each.rows[split][number]] for each in (copied, hops))
            assert (ours == theirs).all()
    assert hops_of(found, tmp_path / "store").computed == 0  # they are in the store now


def a_pack(folder: Path) -> ExportedHops:
    graph = Communities(nodes=90, edges=300, features=4).load()
    write_pack(folder / "pack", classification_of(graph), hops_of(classification_of(graph), folder / "local"))
    return ExportedHops(name="pack", path=str(folder / "pack"))


def test_a_hop_that_was_not_exported_is_named(tmp_path: Path) -> None:
    classification = a_pack(tmp_path).classification("none")
    with pytest.raises(SignError, match=r"x: has no p3, nor a graph to compute them; export it again with them"):
        hops_of(classification, tmp_path / "store", p=3)
    other = {"p": (NormalizedAdjacency("row"), 1)}
    with pytest.raises(SignError, match=r"x: has no p1, nor a graph"):
        diffuse(classification, other, LocalEngine(), Store(str(tmp_path / "store")))


@pytest.mark.parametrize("damage", ["a file is missing", "a row is duplicated", "a split is missing"])
def test_damaged_packs_are_refused(tmp_path: Path, damage: str) -> None:
    dataset, rows = a_pack(tmp_path), tmp_path / "pack" / "rows" / "split=val"
    if damage == "a row is duplicated":
        table = pa.parquet.read_table(rows / "part-0.parquet", partitioning=None)
        nodes = table.column("node").to_numpy().copy()
        nodes[0] = nodes[1]
        pa.parquet.write_table(table.set_column(0, "node", pa.array(nodes)), rows / "part-0.parquet")
    else:
        for file in sorted(rows.iterdir())[: 1 if damage == "a file is missing" else None]:
            file.unlink()
    with pytest.raises(SignError, match=r"cannot be read as exported hops .*; export them again"):
        dataset.classification("none")
