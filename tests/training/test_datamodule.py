"""Batches hold the right rows, from memory and from disk alike."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.training.datamodule import SIGNDataModule
from sign.training.rows import RowLoader, Rows


@pytest.fixture
def datamodule(configured: Callable[..., Settings]) -> SIGNDataModule:
    settings = configured("dataset=communities", "dataset.nodes=500", "dataset.edges=2000", "model.p=2")
    return prepare(settings)


@pytest.mark.parametrize("scaling", ["none", "l2"])
def test_memory_and_disk_give_the_same_batches(datamodule: SIGNDataModule, scaling: str) -> None:
    hops = datamodule.hops
    held, mapped = (Rows(hops.arrays["val"], hops.rows["val"], scaling, memory) for memory in (True, False))
    for index in (slice(3, 40), torch.tensor([5, 1, 1, 80])):
        assert torch.equal(held[index], mapped[index])
    pairs = zip(hops.arrays["val"], hops.rows["val"], strict=True)
    expected = np.concatenate([array[rows] for array, rows in pairs], axis=1)
    if scaling == "none":
        assert (held[slice(None)].numpy() == expected).all()
    else:
        lengths = held[slice(None)].reshape(-1, len(hops.names), datamodule.features).norm(dim=2)
        torch.testing.assert_close(lengths, torch.ones_like(lengths))


def test_an_epoch_shows_every_row_once_with_its_label(datamodule: SIGNDataModule) -> None:
    rows = torch.arange(10.0)[:, None]
    shown = list(
        RowLoader(Rows([rows.numpy()], [np.arange(10)], "none", True), torch.arange(10), 4, lambda: torch.randperm(10))
    )
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
