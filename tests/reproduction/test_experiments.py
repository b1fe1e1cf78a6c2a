"""Every cell of a table, and its look-alike, can be configured."""

from pathlib import Path

import pytest
from common.requests import requested

from sign.published import published_tables
from sign.reproduction.experiments import GRAPHS, MODELS, SEARCHED, cell_plan, overrides_of
from sign.reproduction.reproduce import Reproduction


def test_every_run_is_logged_by_the_tracker_that_is_chosen(tmp_path: Path) -> None:
    for tracker, kind in (("csv", "NoTracker"), ("wandb", "WandB")):
        plan = cell_plan("flickr_sign_200", requested(tmp_path, "table=ablation", f"tracker={tracker}"))
        assert plan.cfg.logger["_target_"].endswith(f".{kind}")


def test_cells_of_the_graphs_table_are_distinct_series(tmp_path: Path) -> None:
    request = requested(tmp_path, "table=graphs")
    folders = {cell_plan(f"cora:{model}", request).series.folder for model in MODELS}
    assert len(folders) == len(MODELS)
    plan = cell_plan("photo:gcn", request)
    assert (plan.first.title, plan.settings(7).dataset.split_seed) == ("GCN(L=1)", 7)


def test_every_graph_has_a_lookalike(tmp_path: Path) -> None:
    request = requested(tmp_path, "table=smoke")
    graphs = {cell.dataset for cell in published_tables()["graphs"].cells}
    assert graphs <= {*GRAPHS}
    names = {cell_plan(f"{graph}:sign", request).first.dataset.name for graph in graphs}
    assert names == {f"{graph}-like" for graph in graphs}


def test_systems_of_the_baselines_table_have_the_settings_of_their_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table, systems in SEARCHED.items():
        cells = {f"{graph}/{table}/{system}" for graph in GRAPHS for system in systems}
        assert set(published_tables()[table].experiments) == cells
    for graph in ("photo", "tags"):
        file = tmp_path / "tuned" / "baselines" / f"{graph}_graphsaint.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr("sign.reproduction.experiments.CONF", tmp_path)
    assert overrides_of("photo/baselines/graphsaint", smoke=False)[-1] == "tuned=baselines/photo_graphsaint"
    assert "dataset.labels=tags" in overrides_of("tags/baselines/graphsaint", smoke=False)


def test_a_system_without_searched_settings_is_a_footnote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sign.reproduction.experiments.CONF", tmp_path)
    for table in SEARCHED:
        result = Reproduction(requested(tmp_path, f"table={table}")).train(f"cora/{table}/sign")
        assert result.unavailable
        assert f"python tools/tune.py --table {table} --graphs cora --systems sign" in result.reason


def test_every_experiment_of_a_smoke_table_has_a_lookalike(tmp_path: Path) -> None:
    for name in requested(tmp_path, "table=smoke").tables:
        for experiment in published_tables()[name].experiments if name != "reductions" else ():
            dataset = overrides_of(experiment, smoke=True)[0 if ":" in experiment else 1]
            assert dataset in ("dataset=shape", "dataset=communities"), experiment
