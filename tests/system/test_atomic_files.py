"""Writes are atomic, and folders are unique."""

import errno
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.system.atomic_files import create_unique_folder, is_disk_full, write_errors, write_json, write_text


def test_a_failed_write_leaves_the_previous_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    write_json(file, {"x": 1})

    def interrupted(self: Path, content: bytes) -> None:
        with self.open("wb") as stream:
            stream.write(content[:3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_json(file, {"x": 2})
    assert json.loads(file.read_text()) == {"x": 1}
    write_text(file, "é")
    assert file.read_text(encoding="utf-8") == "é"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_is_recognised_behind_other_errors() -> None:
    full = OSError(errno.ENOSPC, "no space left on device")
    wrapped = SignError("cannot be written")
    wrapped.__cause__ = full
    assert is_disk_full(full)
    assert is_disk_full(wrapped)
    assert not is_disk_full(OSError(errno.EACCES, "permission denied"))
    assert not is_disk_full(SignError("no space left"))


def test_concurrent_callers_get_different_folders(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: create_unique_folder(tmp_path / "runs", "run"), range(20)))
    assert len(set(folders)) == 20
    assert {folder.name for folder in folders} == {"run", *(f"run-{i}" for i in range(1, 20))}


def test_a_write_that_fails_names_its_file_and(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    with (
        pytest.raises(SignError, match=r"x.json: cannot be written \(is a directory\); .*set paths.output_dir to"),
        write_errors(tmp_path, "paths.output_dir"),
    ):
        write_json(tmp_path / "x.json", {})
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]
