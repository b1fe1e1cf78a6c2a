"""One definition of the settings that change the numbers of a run."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sign.config.identity import CHANGES_NUMBERS, CONTENT, fingerprint, flatten, identity
from sign.config.settings import Settings

Configured = Callable[..., Settings]


def test_every_setting_is_classified_by_its_section(configured: Configured) -> None:
    assert {name.split(".")[0] for name in flatten(configured().config)} <= set(CHANGES_NUMBERS)


@pytest.mark.parametrize(
    "override",
    [
        *("seed=1", "model.p=1", "dataset.split_seed=1", "training.max_epochs=9", "training.patience=9"),
        *("training.shuffle=chunks", "training.shuffle=rows"),
        *("scaling.hops=none", "store.dtype=float16", "trainer.precision=bf16-mixed", "dataset=communities"),
    ],
)
def test_these_change_the_numbers(configured: Configured, override: str) -> None:
    assert fingerprint(configured(override).config) != fingerprint(configured().config)


@pytest.mark.parametrize(
    "override",
    [
        *("engine=torch", "engine.memory=1GB", "store.rows=all", "store.verify=true", "logger=wandb"),
        *("training.rows=disk", "training.rows=memory"),
        *("trainer=ddp", "trainer.accelerator=cpu", "trainer.compile=true", "group=mine", "runs=3"),
        *("job_type=search", "paths.data_dir=/tmp", "paths.store_dir=/tmp"),
    ],
)
def test_these_do_not(configured: Configured, override: str) -> None:
    assert fingerprint(configured(override).config) == fingerprint(configured().config)


def test_downloaded_files_may_lie_anywhere(configured: Configured) -> None:
    here, there = (configured("dataset=planetoid", f"paths.data_dir={folder}") for folder in ("/tmp", "/var/tmp"))
    assert here.config["dataset"]["data_dir"] != there.config["dataset"]["data_dir"]
    assert fingerprint(here.config) == fingerprint(there.config)
    assert here.dataset.content_digest() is None


def write_graph(folder: Path) -> None:
    folder.mkdir()
    np.save(folder / "edges.npy", np.array([[0, 1, 2], [1, 2, 3]]))
    np.save(folder / "features.npy", np.eye(4, dtype=np.float32))
    np.save(folder / "labels.npy", np.array([0, 1, 0, 1]))


def test_the_content_of_a_users_files_counts_and_their_path_does_not(configured: Configured, tmp_path: Path) -> None:
    def identified(folder: Path) -> dict:
        settings = configured("dataset=custom", f"dataset.path={folder}")
        return identity(settings.config, settings.dataset.content_digest())

    here, there = tmp_path / "here", tmp_path / "there"
    write_graph(here)
    write_graph(there)
    before = identified(here)
    assert identified(there) == before
    (there / "notes.txt").write_text("not read")
    assert identified(there) == before
    np.save(there / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]]))
    assert {name for name, value in identified(there).items() if before[name] != value} == {CONTENT}


def test_without_a_digest_the_path_stands_for_the_files() -> None:
    assert identity({"dataset": {"path": "/a"}}) != identity({"dataset": {"path": "/b"}})
    assert identity({"dataset": {"path": "/a"}}, "digest") == identity({"dataset": {"path": "/b"}}, "digest")
