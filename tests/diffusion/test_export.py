"""A pack trains elsewhere, without the graph, to the same numbers."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from common.paths import REPOSITORY

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.diffusion.export import export
from sign.errors import SignError
from sign.experiments.run import run

DATA = ("dataset=communities", "dataset.nodes=400", "dataset.edges=1500", "model.p=2", "model.s=1")
QUICK = ("training.max_epochs=3", "scaling.features=standardize")
SAME = ("train/loss", "val/loss", "test/loss", "test/accuracy")


def pack(settings: Settings, folder: Path) -> None:
    source = settings.precomputation
    export(source, *source.run(), folder)


@pytest.mark.slow
@pytest.mark.parametrize("inductive", ["true", "false"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_training_on_a_pack_gives_the_same_numbers(
    configured: Callable[..., Settings], tmp_path: Path, inductive: str, dtype: str
) -> None:
    settings = configured(*DATA, *QUICK, f"dataset.inductive={inductive}", f"store.dtype={dtype}")
    expected = run(settings)
    pack(settings, tmp_path / "pack")
    elsewhere = configured("dataset=pack", f"dataset.path={tmp_path / 'pack'}", "model.p=2", "model.s=1", *QUICK)
    found = run(elsewhere)
    assert {name: found[name] for name in SAME} == {name: expected[name] for name in SAME}
    fewer = run(configured("dataset=pack", f"dataset.path={tmp_path / 'pack'}", "model.p=1", *QUICK))
    assert fewer["parameters"] < found["parameters"]


def test_a_pack_keeps_the_names_of_classes(configured: Callable[..., Settings], tmp_path: Path) -> None:
    pack(
        configured("dataset=custom", f"dataset.path={REPOSITORY / 'examples' / 'graph'}", "model.p=1"),
        tmp_path / "pack",
    )
    classification = ExportedHops(name="x", path=str(tmp_path / "pack")).classification("standardize")
    assert classification.class_names == ("crafts", "music", "sports")


def test_what_a_pack_does_not_hold_is_named(configured: Callable[..., Settings], tmp_path: Path) -> None:
    settings, folder = configured(*DATA), tmp_path / "pack"
    pack(settings, folder)
    with pytest.raises(SignError, match="is not empty"):
        pack(settings, folder)
    here = ("dataset=pack", f"dataset.path={folder}")
    with pytest.raises(SignError, match="has no p3, nor a graph"):
        configured(*here, "model.p=3").precomputation.run()
    with pytest.raises(SignError, match=r"were exported with scaling.features=none"):
        configured(*here, "scaling.features=row_sum").precomputation.run()
    with pytest.raises(SignError, match="there are no exported hops"):
        configured("dataset=pack", f"dataset.path={tmp_path}").precomputation.run()
    card = json.loads((folder / "pack.json").read_text())
    (folder / "pack.json").write_text(json.dumps({**card, "scopes": [{}]}))
    with pytest.raises(SignError, match="cannot be read as exported hops"):
        configured(*here).precomputation.run()


@pytest.mark.parametrize("harm", ["labels", "rows", "name", "empty", "card"])
def test_a_pack_that_was_changed_is_refused(configured: Callable[..., Settings], tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "pack"
    pack(configured(*DATA), folder)
    card = json.loads((folder / "pack.json").read_text())
    labels, rows = folder / "labels-val.npy", folder / "rows-full-val.npy"
    if harm == "labels":
        np.save(labels, np.load(labels)[::-1])
    elif harm == "rows":
        np.save(rows, np.load(rows)[::-1])
    elif harm == "name":
        card["name"] = "../.."
    elif harm == "empty":
        labels.write_bytes(b"")
    else:
        del card["classes"]
    (folder / "pack.json").write_text(json.dumps(card))
    before = sorted(folder.rglob("*"))
    with pytest.raises(SignError, match=r"cannot be read as exported hops|used as a folder name"):
        configured("dataset=pack", f"dataset.path={folder}").precomputation.run()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("change", [{"features": 10**11}, {"nodes": 10**11}])
def test_a_pack_with_other_sizes_than_its_hops_is_refused(
    configured: Callable[..., Settings], tmp_path: Path, change: dict[str, int]
) -> None:
    folder = tmp_path / "pack"
    pack(configured(*DATA), folder)
    card = json.loads((folder / "pack.json").read_text())
    card["scopes"][0] |= change
    (folder / "pack.json").write_text(json.dumps(card))
    with pytest.raises(SignError, match="has no X, nor a graph to compute them"):
        configured("dataset=pack", f"dataset.path={folder}").precomputation.run()


def test_an_export_that_fails_leaves_nothing(
    configured: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    settings = configured(*DATA)
    classification, hops = settings.precomputation.run()
    monkeypatch.setattr("numpy.save", refuse)
    with pytest.raises(SignError, match=r"pack: cannot be written \(no space"):
        export(settings.precomputation, classification, hops, tmp_path / "pack")
    assert not (tmp_path / "pack").exists()
