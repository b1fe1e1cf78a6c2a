"""A search as a user types it."""

import json
import shlex
from pathlib import Path

import pytest
from common.commands import run_here, shell
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import open_dict
from optuna.distributions import BaseDistribution, CategoricalDistribution

from sign.config.configure import CONF, configure
from sign.operators.heat import HeatKernel
from sign.runs import find_runs, find_series
from sign.search.study import Study

SMALL = ["dataset=communities", "dataset.nodes=200", "dataset.edges=600", "model.p=1", "training.max_epochs=1"]


@pytest.mark.parametrize("model", ["sign", "sagn", "gamlp", "hoga", "nagphormer", "gpr"])
def test_a_trial_of_the_search_over_heads_has_the_settings_of_its_model(tmp_path: Path, model: str) -> None:
    overrides = ["hparams_search=auto", "logger=csv", *SMALL, f"paths.output_dir={tmp_path}"]
    with initialize_config_dir(str(CONF)):
        loader = GlobalHydra.instance().config_loader()
        study = Study(loader.load_configuration("train", overrides, RunMode.MULTIRUN), overrides, loader)
        assert model in study.space.distributions["model"].choices
        drawn = {name: next(iter(each.choices)) for name, each in study.space.distributions.items() if choices(each)}
        trial = study._compose(study._overrides(drawn | {"model": model, "operator@model.operators.s": "heat"}))
        with open_dict(trial):
            del trial["hydra"]
        settings = configure(trial, [])
    assert settings.powers["s"][0] == HeatKernel()
    assert settings.config["model"]["dropout"] >= 0
    assert settings.title.startswith(settings.config["model"]["name"])
    own = study._own(drawn | {"model": model})
    assert ("model.units" in own, "model.inception_units" in own) == (model != "sign", model == "sign")
    assert ("model.attention" in own) == (model == "gamlp")


def choices(distribution: BaseDistribution) -> bool:
    return isinstance(distribution, CategoricalDistribution)


@pytest.mark.slow
def test_a_search_prints_a_command_that_trains_its_best_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = "search.trials=2 search.runs=2 search.metric=val/macro_f1"
    line = f"python src/train.py -m hparams_search=tpe {' '.join(SMALL)} {searched}"
    first = shell(tmp_path, line + " search.slots=2")
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "outputs/communities/sign-p1/search-tpe"
    study = json.loads((folder / "study.json").read_text())
    assert [trial["state"] for trial in study["trials"]] == ["complete", "complete"]
    assert study["best"]["value"] == max(trial["value"] for trial in study["trials"])
    for trial in study["trials"]:
        (series,) = find_series([folder / trial["folder"]])
        assert series.seeds == [0, 1]
        assert trial["value"] == series.metrics["val/macro_f1"]["mean"]
        assert {run.description["job_type"] for run in series.runs} == {"search"}
        for run in series.runs:  # each run logs itself, in the group of the study
            (file,) = (run.folder / "wandb").rglob("run-*.wandb")
            assert b"communities-sign-p1-tpe" in file.read_bytes()
            assert b"trial %d" % trial["number"] in file.read_bytes()
            assert run.description["group"] == "communities-sign-p1-tpe"
    assert len(list((folder / "wandb").glob("offline-run-*"))) == 1

    with initialize_config_dir(str(CONF)):
        composed = compose("train", overrides=[*SMALL, f"paths.output_dir={tmp_path}"])
    (series,) = find_series([folder / study["best"]["folder"]])
    best = series.runs[0].config
    assert best["training"]["batch_size"] == study["best"]["params"]["training.batch_size"]
    assert best["dataset"] == configure(composed).config["dataset"]

    again = shell(tmp_path, line)
    assert again.returncode == 0, again.stderr
    assert "is complete: 2 trials with a result, 0 failed" in again.stdout
    assert "to extend the study: the same command with search.trials=4" in again.stdout
    assert not list(folder.glob("trial-0002"))
    assert len(list((folder / "wandb").glob("offline-run-*"))) == 1

    (command,) = [text for text in again.stdout.splitlines() if text.startswith("python src/train.py")]
    assert command.endswith(" runs=10")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    _, *arguments = shlex.split(command.removesuffix("0"))
    assert not run_here(tmp_path, *arguments, "seed=3")  # one of the ten
    (run,) = [run for run in find_runs([tmp_path / "outputs"]) if "search-tpe" not in str(run.folder)]
    assert run.metrics
    sections = ("dataset", "model", "training", "scaling")
    assert all(run.config[name] == best[name] for name in sections)


@pytest.mark.slow
def test_a_wrong_setting_is_explained_before_a_study_is_created(tmp_path: Path) -> None:
    result = shell(tmp_path, "python src/train.py hparams_search=tpe")
    assert result.stderr.startswith("error: hparams_search=tpe: a search needs -m")
    result = shell(tmp_path, "python src/train.py -m hparams_search=tpe search.trials=0")
    assert result.stderr == "error: search.trials=0: must be an integer >= 1\n"
    assert result.returncode == 1
    result = shell(tmp_path, "python src/train.py -m hparams_search=tpe search.metric=val/roc_auc search.pruner=median")
    assert result.stderr.startswith("error: search.pruner=median: compares val/roc_auc after every epoch")
    result = shell(tmp_path, "python src/train.py -m hparams_search=tpe model.p=-1")
    assert result.stderr.startswith("error: model.p=-1: a power must be an integer")
    assert not list(tmp_path.rglob("study.db"))
