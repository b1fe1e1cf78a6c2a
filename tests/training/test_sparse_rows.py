"""Hops that stay sparse in memory change no number of a run beyond rounding."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from sign.config.settings import Settings
from sign.experiments.run import prepare, run
from sign.graph import features
from sign.graph.features import SparseFeatures
from sign.models.networks.sparse import MixedRows
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.training.datamodule import SIGNDataModule
from sign.training.hop_rows import HopRows
from sign.training.rows import Rows
from sign.training.sparse_rows import load_mixed

Configured = Callable[..., Settings]
SMALL = ["dataset=cora", "model.p=2", "model.inception_units=8", "model.classification_units=8", "model.dropout=0.0"]
SMALL += ["model.input_dropout=0.0"]


@pytest.fixture
def small_arrays_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MIN_BYTES", 0)


def prepared(settings: Settings) -> SIGNDataModule:
    data = prepare(settings)
    assert isinstance(data, SIGNDataModule)
    return data


@pytest.mark.usefixtures("small_arrays_count")
@pytest.mark.parametrize("scaling", ["none", "l2"])
def test_rows_have_the_values_of_dense_ones(configured: Configured, scaling: str) -> None:
    hops = prepared(configured(*SMALL)).hops
    source = HopRows(hops.arrays["val"], hops.rows["val"], scaling)
    rows, dense = load_mixed(source), Rows.load(source).matrix.split(source.widths, dim=1)
    assert set(rows.sparse) == {hop for hop, array in enumerate(source.arrays) if isinstance(array, SparseFeatures)}
    assert {0} <= set(rows.sparse) < {0, 1, 2}
    parts = iter(rows.matrix.split([width for hop, width in enumerate(source.widths) if hop not in rows.sparse], dim=1))
    for hop, expected in enumerate(dense):
        found = rows.sparse[hop].to_dense() if hop in rows.sparse else next(parts)
        assert torch.equal(found, expected)


@pytest.mark.usefixtures("small_arrays_count")
def test_they_take_less_memory(configured: Configured) -> None:
    data = prepared(configured(*SMALL))
    with_sparse_hops = data.row_bytes
    data.sparse_hops = False
    assert with_sparse_hops < 0.7 * data.row_bytes
    assert data.row_bytes == 4 * sum(map(len, data.classification.labels.values())) * sum(data.columns.values())


def test_a_run_and_its_evaluation_have_the_numbers_of_dense_hops(
    configured: Configured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = []
    for least in (features.MIN_BYTES, 0):
        monkeypatch.setattr(features, "MIN_BYTES", least)
        settings = configured(*SMALL, "training.max_epochs=3", f"paths.store_dir={tmp_path / str(least)}")
        data = prepared(settings)
        assert isinstance(data.training_rows, MixedRows) == (least == 0)
        metrics = run(settings, data)
        (folder,) = settings.output_dir.rglob("metrics.json")
        again = evaluate(settings, TrainedModel.load(folder.parent))
        assert {name: metrics[name] for name in again} == pytest.approx(again, abs=1e-6)
        folder.unlink()
        runs.append(again)
    assert runs[0] == pytest.approx(runs[1], abs=1e-4)


@pytest.mark.usefixtures("small_arrays_count")
def test_rows_on_disk_and_compiled_networks_and_label_dropout_are_dense(configured: Configured) -> None:
    for overrides in (["training.rows=disk"], ["trainer.compile=true"], ["model.l=1", "training.label_dropout=0.5"]):
        assert not isinstance(prepared(configured(*SMALL, *overrides)).training_rows, MixedRows)


@pytest.mark.usefixtures("small_arrays_count")
def test_batches_are_those_of_dense_rows(configured: Configured) -> None:
    data = prepared(configured(*SMALL, "training.batch_size=50"))
    sparse = list(data.train_dataloader())
    data.release()
    data.sparse_hops = False
    data.setup("fit")
    for ours, theirs in zip(sparse, data.train_dataloader(), strict=True):
        assert torch.equal(ours.labels, theirs.labels)
        assert isinstance(ours.rows, MixedRows)
        features_of_batch = theirs.rows[:, : data.features]
        assert np.array_equal(ours.rows.sparse[0].to_dense(), features_of_batch)
