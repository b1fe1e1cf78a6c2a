"""Rows on disk give the batches that rows in memory give, bit by bit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from sign.errors import SignError
from sign.training.batch import Batch
from sign.training.chunk_loader import ChunkLoader
from sign.training.chunks import ChunkOrder, Chunks
from sign.training.file_rows import FileRows, layout, write_or_open
from sign.training.hop_rows import HopRows
from sign.training.rows import RowLoader, Rows

CHUNKS = Chunks(999, 7)  # five groups, the last chunk is shorter


@pytest.fixture(params=["float32", "float16"])
def source(request: pytest.FixtureRequest) -> HopRows:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((1500, width)).astype(request.param) for width in (5, 3)]
    return HopRows(arrays, [np.sort(rng.permutation(1500)[:999]) for _ in arrays], "l2")


def opened(source: HopRows, root: Path, split: str = "train") -> FileRows:
    return write_or_open(root, split, source, ["a", "b"], shuffled=split == "train")


def epoch() -> ChunkOrder:
    return CHUNKS.epoch(0, 1)


def test_a_file_has_the_rows_of_the_hops(source: HopRows, tmp_path: Path) -> None:
    shuffled, in_order = opened(source, tmp_path), opened(source, tmp_path, "val")
    assert torch.equal(in_order[slice(None)], source[slice(None)])
    assert torch.equal(shuffled[slice(None)], source[slice(None)][layout(999)])
    assert torch.equal(in_order.own(slice(10, 20))[slice(2, 4)], source[slice(12, 14)])
    assert in_order.file.stat().st_size < 999 * 8 * source.arrays[0].itemsize + 200
    written = shuffled.file.stat().st_mtime_ns
    assert opened(source, tmp_path).file.stat().st_mtime_ns == written


@pytest.mark.parametrize("batch_size", [1, 10, 100, 300, 998, 5000])
@pytest.mark.parametrize("world", [1, 3])
def test_disk_and_memory_give_the_same_batches(source: HopRows, tmp_path: Path, batch_size: int, world: int) -> None:
    labels, held, on_disk = torch.arange(999), Rows.load(source), opened(source, tmp_path)
    in_file = torch.from_numpy(layout(999))

    def in_memory(rank: int) -> list[Batch]:
        loader = RowLoader(held, labels, batch_size, None, rank, world)
        loader.order = lambda: in_file[torch.from_numpy(epoch().for_ranks(loader.batches, world))]
        return list(loader)

    def from_disk(rank: int) -> list[Batch]:
        return list(ChunkLoader(on_disk, labels[in_file], batch_size, epoch, rank, world))

    for rank in range(world):
        for expected, batch in zip(in_memory(rank), from_disk(rank), strict=True):
            assert torch.equal(batch.rows, expected.rows)
            assert torch.equal(batch.labels, expected.labels)
            assert batch.total == expected.total


def test_each_chunk_is_read_once_per_epoch(source: HopRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, reads, read = opened(source, tmp_path), [], FileRows.read

    def counted(self: FileRows, start: int, out: np.ndarray, in_order: bool = True) -> None:
        reads.append((start, len(out)))
        read(self, start, out, in_order)

    monkeypatch.setattr(FileRows, "read", counted)
    for world in (1, 2):
        reads.clear()
        for rank in range(world):
            list(ChunkLoader(rows, torch.arange(999), 50, epoch, rank, world))
        assert sum(count for _, count in reads) < 999 * 1.2  # chunks at the border of two ranks are read by both
        assert {start for start, _ in reads} == set(range(0, 999, 7))


def test_evaluation_reads_in_order(source: HopRows, tmp_path: Path) -> None:
    for rows in (opened(source, tmp_path, "val"), source):
        batches = list(RowLoader(rows, torch.arange(999), 100))
        assert torch.equal(torch.cat([batch.rows for batch in batches]), source[slice(None)])
        assert torch.equal(torch.cat([batch.labels for batch in batches]), torch.arange(999))


def test_a_file_that_disappears_is_one_message(source: HopRows, tmp_path: Path) -> None:
    rows = opened(source, tmp_path)
    rows.file.unlink()
    with pytest.raises(SignError, match="was removed while it was read"):
        list(ChunkLoader(rows, torch.arange(999), 50, epoch))


def test_what_is_in_memory_is_two_groups(source: HopRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    empty: Callable[..., torch.Tensor] = torch.empty

    def recorded(rows: int, columns: int) -> torch.Tensor:
        made.append(rows)
        return empty(rows, columns)

    monkeypatch.setattr("sign.training.chunk_loader.torch.empty", recorded)
    loader = ChunkLoader(opened(source, tmp_path), torch.arange(999), 10, epoch)
    assert sum(len(batch.labels) for batch in loader) == 999
    assert sum(count for count in made if count > 10) <= 2 * 32 * 7
