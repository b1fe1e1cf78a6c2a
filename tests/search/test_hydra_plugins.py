"""Sweeps with ``-m`` and lists of values."""

import json
from pathlib import Path

import pytest
from common.commands import shell
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper

from sign.search.hydra_plugins import SlotLauncher, StudySweeper, register


def test_hydra_finds_the_plugins() -> None:
    register()
    assert SlotLauncher in Plugins.instance().discover(Launcher)
    assert StudySweeper in Plugins.instance().discover(Sweeper)


@pytest.mark.slow
def test_a_failed_job_does_not_stop_the_others(tmp_path: Path) -> None:
    result = shell(tmp_path, "python src/precompute.py -m model.p=-1,1,-2 search.slots=2")
    assert result.returncode == 1
    assert "2 of 3 jobs failed (job 0: model.p=-1: a power must be" in result.stderr
    assert "job 1 (model.p=1 search.slots=2): done" in result.stdout
    assert list(tmp_path.glob("store/*/*/manifest.json"))
    folders = list(tmp_path.glob("outputs/multirun/*/*/"))
    assert sorted(folder.name for folder in folders) == ["0", "1", "2"]
    assert all((folder / "stderr.txt").is_file() for folder in folders)


@pytest.mark.slow
def test_a_job_reports_its_validation_loss_and_has_the_results_of_a_command_of_its_own(tmp_path: Path) -> None:
    small = "model.p=1 dataset=communities dataset.nodes=200 dataset.edges=600 training.max_epochs=3 logger=csv"
    result = shell(tmp_path, f"python src/train.py -m seed=0,1 {small} search.slots=2")
    assert result.returncode == 0, result.stderr
    assert "job 0 (seed=0 " in result.stdout
    assert result.stdout.count("): val/loss ") == 2
    (tmp_path / "alone").mkdir()
    assert shell(tmp_path / "alone", f"python src/train.py seed=1 {small}").returncode == 0
    (job,) = tmp_path.glob("outputs/communities/sign-p1/*-seed1/metrics.json")
    (alone,) = tmp_path.glob("alone/outputs/communities/sign-p1/*-seed1/metrics.json")
    assert results(job) == results(alone)
    assert list(tmp_path.glob("outputs/communities/sign-p1/*-seed0/metrics.json"))


def results(file: Path) -> dict[str, float]:
    """The metrics of a run that do not depend on the machine."""
    return {
        name: value
        for name, value in json.loads(file.read_text()).items()
        if not name.startswith(("seconds/", "memory/"))
    }
