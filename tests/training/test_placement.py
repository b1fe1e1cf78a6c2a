"""``auto`` is decided by size; what contradicts is refused."""

import dataclasses
import logging

import pytest

from sign.errors import FieldError
from sign.system import memory
from sign.training.placement import Placement, Room, place
from sign.training.settings import Training

TRAINING = Training(
    learning_rate=0.1, weight_decay=0, batch_size=8, max_epochs=1, patience=1, monitor="val/loss", threshold=0.5
)


def placed(size: int, room: Room, **changes: str) -> Placement:
    return place(dataclasses.replace(TRAINING, **changes), size, room)


def test_auto_takes_the_fastest_place_that_is_large_enough(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert placed(1000, Room(1000)) == Placement("memory", "rows")
    assert not caplog.messages  # the usual case
    assert placed(1001, Room(1000)) == Placement("disk", "chunks")
    assert placed(500, Room(1000, 500)) == Placement("device", "rows")
    assert placed(501, Room(1000, 500)) == Placement("memory", "rows")
    assert placed(1001, Room(1000, 500)) == Placement("disk", "chunks")
    assert "1.0 kB of rows, and there is room for 1.0 kB in memory: training.rows=disk" in caplog.text


def test_explicit_settings_are_obeyed() -> None:
    assert placed(10, Room(1000), rows="disk") == Placement("disk", "chunks")
    assert placed(10, Room(1000), shuffle="chunks") == Placement("memory", "chunks")
    assert placed(10, Room(1000, 5), rows="device") == Placement("device", "rows")


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"rows": "memory"}, "training.rows=memory"),
        ({"rows": "device"}, "training.rows=device"),
        ({"rows": "disk", "shuffle": "rows"}, "training.shuffle=rows"),
        ({"rows": "auto", "shuffle": "rows"}, "training.shuffle=rows"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, str], setting: str) -> None:
    with pytest.raises(FieldError, match=f"^{setting}"):
        placed(1001, Room(1000), **changes)


def test_the_room_is_within_the_budget_and_shared_by_ranks() -> None:
    budget = memory.resident() + 10**7
    assert 0 < Room.of(str(budget)).memory <= 5 * 10**6
    assert Room.of("1kB").memory == 0
    assert Room.of(None, ranks=4).memory < Room.of(None).memory
    assert Room.of(None, device=100).device == 50
