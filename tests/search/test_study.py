"""A search as a user types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from common.paths import REPOSITORY
from hydra import compose, initialize_config_dir

from sign.config.configure import CONF, configure
from sign.runs import find_runs, find_series

SMALL = [
    "dataset=communities",
    "dataset.nodes=200",
    "dataset.edges=600",
    "model.p=1",
    "training.max_epochs=1",
]


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a line in ``folder``, which looks like a checkout."""
    for name in ("src", "conf"):
        if not (folder / name).exists():
            (folder / name).symlink_to(REPOSITORY / name)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "WANDB_MODE": "offline", **environment}
    return subprocess.run(line, shell=True, capture_output=True, text=True, cwd=folder, env=env, timeout=600)


def test_a_search_says_what_to_do_next_and_that_works(tmp_path: Path) -> None:
    line = f"python src/train.py -m hparams_search=tpe {' '.join(SMALL)} search.trials=2 search.runs=2"
    first = shell(tmp_path, line + " search.slots=2")
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "outputs/communities/sign-p1/search-tpe"
    study = json.loads((folder / "study.json").read_text())
    assert [trial["state"] for trial in study["trials"]] == ["complete", "complete"]
    assert study["best"]["value"] == min(trial["value"] for trial in study["trials"])
    for trial in study["trials"]:
        (series,) = find_series([folder / trial["folder"]])
        assert series.seeds == [0, 1]
        assert trial["value"] == series.metrics["val/loss"]["mean"]
        assert {run.description["job_type"] for run in series.runs} == {"search"}
        assert list((folder / trial["folder"] / "wandb").glob("offline-run-*"))
    assert list((folder / "wandb").glob("offline-run-*"))

    with initialize_config_dir(str(CONF)):
        composed = compose("train", overrides=[*SMALL, f"paths.output_dir={tmp_path}"])
    (ran,) = find_series([folder / study["best"]["folder"]])
    best = ran.runs[0].config
    assert best["training"]["batch_size"] == study["best"]["params"]["training.batch_size"]
    assert best["dataset"] == configure(composed).composed["dataset"]

    again = shell(tmp_path, line)
    assert again.returncode == 0, again.stderr
    assert "is complete: 2 trials with a result, 0 failed" in again.stdout
    assert "to extend the study: the same command with search.trials=4" in again.stdout
    assert not list(folder.glob("trial-0002"))

    (command,) = [text for text in again.stdout.splitlines() if text.startswith("python src/train.py")]
    assert command.endswith(" runs=10")
    trained = shell(tmp_path, f"{command.removesuffix('0')} seed=3", WANDB_MODE="disabled")  # one of the ten
    assert trained.returncode == 0, trained.stderr
    (run,) = [found for found in find_runs([tmp_path / "outputs"]) if "search-tpe" not in str(found.folder)]
    assert run.metrics
    sections = ("dataset", "model", "training", "scaling")
    assert all(run.config[name] == best[name] for name in sections)


def test_other_settings_need_another_study(tmp_path: Path) -> None:
    result = shell(tmp_path, "python src/train.py hparams_search=tpe")
    assert result.stderr.startswith("error: hparams_search=tpe: a search needs -m")
    result = shell(tmp_path, "python src/train.py -m hparams_search=tpe search.trials=0")
    assert result.stderr == "error: search.trials=0: must be >= 1\n"
    assert result.returncode == 1
    result = shell(tmp_path, "python src/train.py -m hparams_search=tpe model.p=-1")
    assert result.stderr.startswith("error: model.p=-1: a power must be a whole number")
    assert not list(tmp_path.rglob("study.db"))


def test_a_job_that_fails_does_not_end_the_others(tmp_path: Path) -> None:
    result = shell(tmp_path, "python src/precompute.py -m model.p=-1,1,-2 search.slots=2")
    assert result.returncode == 1
    assert "2 of 3 jobs failed (job 0: model.p=-1: a power must be" in result.stderr
    assert "job 1 (model.p=1 search.slots=2): done" in result.stdout
    assert list(tmp_path.glob("store/*/*/manifest.json"))
