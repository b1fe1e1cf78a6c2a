"""Sizes are parsed and formatted, and control groups limit the available memory."""

from pathlib import Path

import pytest

from sign.system import memory


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4 * 10**9), ("1.5 MB", 1_500_000), ("700", 700), ("4", 4), ("four", None), ("4gb", None)]
)
def test_sizes_are_parsed(text: str, size: int | None) -> None:
    assert memory.parse_size(text) == size


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1_536_000, "1.5 MB"), (2 * 10**15, "2000.0 TB")]
)
def test_sizes_are_formatted(size: int, text: str) -> None:
    assert memory.format_size(size) == text


def test_the_file_cache_of_a_control_group_is_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    before = memory.available()
    for name, value in (("memory.max", "4000000"), ("memory.current", "3500000")):
        (tmp_path / name).write_text(value)
    assert memory.available() == 500_000
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 3000000\n")
    assert memory.available() == 3_500_000
    monkeypatch.setenv(memory.SHARES_VARIABLE, "2")
    assert memory.available() == 1_750_000
    (tmp_path / "memory.max").write_text("max")
    assert memory.available() > before / 4


def test_the_rest_of_a_budget_is_what_is_not_resident(tmp_path: Path) -> None:
    assert memory.scratch_folder() is None
    with memory.limit(memory.resident() + 10**8, tmp_path):
        assert 0 < memory.remaining() <= 10**8 + 10**7
        assert memory.scratch_folder() == tmp_path
    assert memory.scratch_folder() is None
