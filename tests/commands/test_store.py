"""The command of the store: its arguments, what it prints, and the training command that an export prints."""

import shlex
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from common.commands import command, run_here
from common.overrides import CUSTOM
from common.paths import REPOSITORY
from common.store import write_hop

from sign.commands import store as store_command
from sign.commands.store import training_overrides
from sign.config.defaults import automatic
from sign.config.identity import identity
from sign.config.settings import Settings
from sign.errors import SignError
from sign.store.store import HopFolder, Store

PRUNE = store_command.StoreRequest("prune", path=None, unused_days=None, damaged=True, dry_run=True)


@pytest.fixture
def folder(tmp_path: Path) -> HopFolder:
    operator = {"name": "ppr", "alpha": 0.1}
    folder = Store(str(tmp_path)).folder("cora", operator=operator, scope="full", rows=None)
    for power in (1, 2, 4):
        write_hop(folder, power, np.ones((4, 3), np.float32), 0)
    return folder


@pytest.mark.parametrize(
    "overrides",
    [
        ("model.p=2", "scaling.features=row_sum", "training.learning_rate=1e-05"),
        ("experiment=cora_public", "trainer.precision=bf16-mixed", "seed=3"),
        ("operator@model.operators.s=heat", "model.s=1"),
        ("+operator@model.operators.q=laplacian", "+model.q=2", "model.title='mine, too'"),
        (),
    ],
)
def test_a_training_run_on_an_export_has_the_same_settings(
    configured: Callable[..., Settings], tmp_path: Path, overrides: tuple[str, ...]
) -> None:
    settings = configured(*overrides)
    elsewhere = configured(*training_overrides(settings, "sign", tmp_path))

    def counted(of: Settings) -> dict:
        return {name: value for name, value in identity(of.config).items() if not name.startswith("dataset.")}

    assert counted(elsewhere) == counted(settings)
    assert elsewhere.powers == settings.powers


def test_an_export_names_the_settings_that_were_chosen_by_the_graph(
    configured: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    choices = SimpleNamespace(runtime=SimpleNamespace(choices={"model": "sign"}))
    monkeypatch.setattr(store_command.HydraConfig, "get", lambda: choices)
    request = store_command.StoreRequest("export", str(tmp_path / "pack"), None, damaged=False, dry_run=True)
    store_command.export(request, configured(*CUSTOM))
    _, _, *overrides = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert "scaling.features=standardize" in overrides
    assert automatic(configured(*overrides).config) == []
    classification, _ = configured(*overrides).precomputation.run()
    assert classification.feature_scaling.method == "standardize"


@pytest.mark.slow
def test_the_printed_command_trains(tmp_path: Path) -> None:
    small = ("model.p=1", "model.inception_units=8", "training.max_epochs=1")
    exported = command(tmp_path, "action=export", "path=my pack", *small, program="store")
    assert exported.returncode == 0, exported.stderr
    _, program, *overrides = shlex.split(exported.stdout.splitlines()[-1])
    assert program == str(REPOSITORY / "src" / "train.py")
    assert not run_here(tmp_path, program, *overrides, "logger=csv")


def test_an_export_needs_a_path(tmp_path: Path) -> None:
    result = command(tmp_path, "action=export", program="store")
    assert result.returncode == 1
    assert result.stderr.startswith("error: path=null: action=export needs a new folder to write")


def test_a_store_needs_a_folder(tmp_path: Path) -> None:
    result = command(tmp_path, "paths.store_dir=null", program="store")
    assert result.returncode == 1
    assert result.stderr.startswith("error: paths.store_dir=None: must be a non-empty string")


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_the_list_names_operators_hops_and_sizes(
    folder: HopFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cora" / "0123456789abcdef").mkdir()
    store_command.show(tmp_path)
    text = printed(capsys)
    for part in ("cora", "ppr(alpha=0.1)", folder.path.name, "1 to 2, 4", "min ago", "in total", "no manifest"):
        assert part in text


def test_the_list_is_readable_at_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    operator = {"name": "ppr", "alpha": 0.1, "tolerance": 1e-6, "mode": "push", "threshold": 1e-4, "neighbours": 128}
    folder = Store(str(tmp_path)).folder("ogbn-papers100M", operator=operator, scope="full", rows=None)
    for power in (1, 2, 4):
        write_hop(folder, power, np.ones((1000, 3), np.float32), 0)
    store_command.show(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    columns = zip(*(line.split("│")[1:-1] for line in lines if line.startswith("│")), strict=True)
    data, text, sizes = ([part.strip() for part in column] for column in columns)
    assert data[:3] == ["ogbn-papers100M", "hops 1 to 2, 4", "1,000 rows"]
    assert " ".join(text[:2]) == "ppr(alpha=0.1, tolerance=1e-06, mode=push, threshold=0.0001, neighbours=128)"
    assert text[2:4] == ["full graph, float32", folder.path.name]
    assert sizes[:2] == ["37.5 kB", "used"]


def test_markup_in_names_is_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_hop(Store(str(tmp_path)).folder("[bold]x[-]", operator=None, scope="full", rows=None), 0, np.ones((4, 3)), 0)
    store_command.show(tmp_path)
    assert "[bold]x[-]" in capsys.readouterr().out


def test_damaged_hops_are_printed_and_pruned(
    folder: HopFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_command.verify(tmp_path)
    assert "3 arrays are intact" in printed(capsys)
    file = folder.path / "hop-2.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(SignError, match="1 of 3 arrays are damaged"):
        store_command.verify(tmp_path)
    assert f"damaged: {file}" in printed(capsys)
    store_command.prune(tmp_path, PRUNE)
    assert f"would remove {file}" in printed(capsys)
    store_command.prune(tmp_path, replace(PRUNE, dry_run=False))
    assert f"removed {file}" in printed(capsys)
    assert not file.exists()


def test_a_folder_that_a_run_writes_to_is_skipped(
    folder: HopFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.locked():
        store_command.prune(tmp_path, PRUNE)
    assert f"skipped, a run is writing to it: {folder.path}" in printed(capsys)


def test_a_graph_on_the_cluster_is_exported_by_executors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sign.engines.spark.cluster import export
    from sign.engines.spark.engine import SparkEngine

    asked = []

    def export_pack(*arguments: Any) -> dict[str, int]:
        asked.append(arguments)
        return {"train": 1200, "val": 3, "test": 0}

    monkeypatch.setattr(export, "export_pack", export_pack)
    monkeypatch.setattr(SparkEngine, "limits", lambda engine, folder: nullcontext())
    (tmp_path / "tables").mkdir()
    tables = [f"dataset.{name}={tmp_path / 'tables'}" for name in ("edges", "nodes")]
    options = ["engine=spark", "model.p=2", "scaling.features=row_sum", "path=hdfs://host/pack"]
    program = str(REPOSITORY / "src" / "store.py")
    assert run_here(tmp_path, program, "action=export", "dataset=parquet", *tables, *options) == 0
    ((engine, dataset, powers, scaling, path),) = asked
    assert (engine.master, dataset.nodes, powers["p"][1]) == ("local[*]", str(tmp_path / "tables"), 2)
    assert (scaling, path) == ("row_sum", "hdfs://host/pack")
    printed = capsys.readouterr().out
    assert "1,200 train, 3 val, 0 test rows in hdfs://host/pack" in printed
    assert "dataset=pack" in printed
    assert "model.p=2" in printed
    assert (
        run_here(tmp_path, str(REPOSITORY / "src" / "precompute.py"), "dataset=parquet", *tables, "engine=spark") == 1
    )
    assert "a graph of dataset=parquet stays on the cluster; write its hops" in "".join(capsys.readouterr())
