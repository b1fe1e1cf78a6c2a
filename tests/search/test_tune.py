"""tools/tune.py: one search per system and graph, all with the same number of trials, and the files that it writes."""

import argparse
import runpy
from pathlib import Path

import pytest
import yaml
from common.paths import REPOSITORY

from sign.reproduction.experiments import GRAPHS, SEARCHED

TUNE = runpy.run_path(str(REPOSITORY / "tools" / "tune.py"))
STUDY = {
    "metric": "val/accuracy",
    "best": {"value": 0.81234, "params": {"training.learning_rate": 0.0012345, "model.units": 64}},
    "trials": [{"state": "complete"}, {"state": "complete"}, {"state": "fail"}],
}


@pytest.fixture
def options(tmp_path: Path) -> argparse.Namespace:
    values = {"table": "baselines", "folder": tmp_path, "data_dir": tmp_path, "slots": 2, "trials": 10, "epochs": 200}
    return argparse.Namespace(**values, debian_trials=4, debian_epochs=20)


def test_the_file_of_a_search_has_its_best_settings_and_says_how_many_were_tried(options: argparse.Namespace) -> None:
    text = TUNE["settings_of"]("cora", "gcn_full", STUDY, options)
    content = yaml.safe_load(text)
    assert content["defaults"] == ["/tuned/custom_gcn_full", "_self_"]
    assert content["training"] == {"monitor": "val/accuracy", "max_epochs": 200, "learning_rate": 0.00123}
    assert content["model"] == {"units": 64}
    assert "the best of 2 trials on validation data (val/accuracy 0.8123" in text


def test_a_system_of_another_name_has_the_settings_of_its_model(options: argparse.Namespace) -> None:
    options.table = "beyond"
    content = yaml.safe_load(TUNE["settings_of"]("cora", "sign_labels", STUDY, options))
    assert content["defaults"] == ["/tuned/custom_sign", "_self_"]


@pytest.mark.parametrize("table", SEARCHED)
@pytest.mark.parametrize("graph", GRAPHS)
def test_all_systems_have_the_same_budget_on_a_graph(
    graph: str, table: str, options: argparse.Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def record(command: list[str]) -> None:
        commands.append(command)
        (folder,) = [line.partition("=")[2] for line in command if line.startswith("paths.output_dir=")]
        Path(folder).mkdir(parents=True)
        Path(folder, "study.json").write_text("{}")

    monkeypatch.setitem(TUNE["search"].__globals__, "train", record)
    options.table = table
    for system in SEARCHED[table]:
        TUNE["search"](graph, system, options)
    budgets = [
        {line for line in command if line.startswith(("search.", "training.m", "dataset"))} for command in commands
    ]
    assert len(commands) == len(SEARCHED[table])
    assert all("hparams_search=hops" in command for command in commands if table == "beyond")
    assert all(budget == budgets[0] for budget in budgets)
    assert f"search.trials={4 if graph in ('sections', 'tags') else 10}" in budgets[0]
