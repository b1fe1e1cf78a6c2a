"""Batches hold the right rows, from memory and from disk alike."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.training.datamodule import SIGNDataModule
from sign.training.hop_rows import HopRows
from sign.training.rows import RowLoader, Rows


@pytest.fixture
def datamodule(configured: Callable[..., Settings]) -> SIGNDataModule:
    settings = configured("dataset=communities", "dataset.nodes=500", "dataset.edges=2000", "model.p=2")
    return prepare(settings)


@pytest.mark.parametrize("scaling", ["none", "l2"])
def test_memory_and_store_give_the_same_rows(datamodule: SIGNDataModule, scaling: str) -> None:
    hops = datamodule.hops
    stored = HopRows(hops.arrays["val"], hops.rows["val"], scaling)
    held = Rows.load(stored)
    for part in (slice(3, 40), slice(7, 8), slice(9, 9), slice(None)):
        assert torch.equal(held[part], stored[part])
        assert torch.equal(held.own(slice(20, 90))[part], stored.own(slice(20, 90))[part])
    pairs = zip(hops.arrays["val"], hops.rows["val"], strict=True)
    expected = np.concatenate([array[rows] for array, rows in pairs], axis=1)
    if scaling == "none":
        assert (held[slice(None)].numpy() == expected).all()
    else:
        lengths = held[slice(None)].reshape(-1, len(hops.names), datamodule.features).norm(dim=2)
        torch.testing.assert_close(lengths, torch.ones_like(lengths))


def test_hops_may_have_different_widths() -> None:
    wide, narrow = np.arange(12.0, dtype=np.float32).reshape(4, 3), np.arange(4.0, dtype=np.float32)[:, None]
    rows = HopRows([wide, narrow], [np.array([0, 2, 3]), np.array([1, 1, 0])], "l2")
    expected = np.concatenate([wide[[0, 2, 3]], narrow[[1, 1, 0]]], axis=1)
    expected[:, :3] /= np.linalg.norm(expected[:, :3], axis=1)[:, None]
    expected[:, 3] = [1, 1, 0]
    np.testing.assert_allclose(rows[slice(None)].numpy(), expected, rtol=1e-6)


def test_an_epoch_shows_every_row_once_with_its_label(datamodule: SIGNDataModule) -> None:
    rows = Rows(torch.arange(10.0)[:, None])
    shown = list(RowLoader(rows, torch.arange(10), 4, lambda: torch.randperm(10)))
    assert [len(batch.labels) for batch in shown] == [4, 4, 2]
    values, labels = torch.cat([batch.rows for batch in shown]), torch.cat([batch.labels for batch in shown])
    assert torch.equal(values[:, 0].long(), labels)
    assert sorted(labels.tolist()) == list(range(10))


def test_training_rows_are_shuffled_by_seed(datamodule: SIGNDataModule) -> None:
    first, again = (torch.cat([batch.rows for batch in datamodule.train_dataloader()]) for _ in range(2))
    assert torch.equal(first, again)
    datamodule.seed += 1
    other = torch.cat([batch.rows for batch in datamodule.train_dataloader()])
    assert not torch.equal(first, other)


def test_labels_belong_to_their_rows(datamodule: SIGNDataModule) -> None:
    graph = datamodule.precomputation.dataset.load()
    for split, loader in zip(("train", "val", "test"), datamodule.test_dataloader(), strict=True):
        batches = list(loader)
        rows, labels = (torch.cat([batch.rows for batch in batches]), torch.cat([batch.labels for batch in batches]))
        nodes = graph.nodes_of(split)
        assert (labels.numpy() == graph.labels[nodes]).all()
        assert (rows[:, : datamodule.features].numpy() == graph.features[nodes]).all()
