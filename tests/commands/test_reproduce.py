"""The command ``src/reproduce.py``: its arguments, and what it prints."""

from pathlib import Path

import pytest
from common.commands import SLOW, command, imports
from common.requests import requested

from sign.errors import SignError
from sign.reproduction.experiments import cell_plan
from sign.reproduction.request import FIGURES, TABLES
from sign.system.atomic_files import write_json


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ((), "table=null: choose what to reproduce"),
        (("table=nine",), "table=nine: choose one of"),
        (("figure=nine",), "figure=nine: choose one of"),
        (("table=timing", "scale=2"), "scale=2: must be"),
        (("table=all", "runs=0"), "runs=0: must be an integer >= 1"),
        (("table=all", "settings=x"), "settings=x: name what to set"),
        (("table=all", "+nine=9"), "nine: there is no such setting"),
        (("table=timing", "datasets=[cora]"), "datasets=['cora']: only figure=triangles"),
        (("figure=triangles", "datasets=[]"), "datasets=[]: give a list"),
        (("figure=triangles", "datasets=[nowhere]"), "datasets=nowhere: no such choice; choose one of amazon"),
    ],
)
def test_invalid_request_is_rejected_with_a_message(tmp_path: Path, overrides: tuple[str, ...], message: str) -> None:
    with pytest.raises(SignError) as caught:
        requested(tmp_path, *overrides)
    assert str(caught.value).startswith(message)


def test_settings_become_overrides_of_every_run(tmp_path: Path) -> None:
    settings = ("+settings.training.max_epochs=3", "+settings.engine.memory=4GB", "+settings.store.verify=true")
    request = requested(tmp_path, "table=all", *settings, "+settings.group='a, \\'b\\''")
    first = cell_plan("flickr_sign_401", request).first
    assert (first.training.max_epochs, first.engine.memory, first.store.verify) == (3, "4GB", True)
    assert first.group == "a, 'b'"
    assert (first.runs, first.job_type, first.experiment) == (10, "reproduce", "flickr_sign_401")


@pytest.mark.slow
def test_finished_table_is_printed_without_slow_imports(tmp_path: Path) -> None:
    overrides = ["table=evaluation", "runs=1"]
    plan = cell_plan("papers100M_sign_333", requested(tmp_path, *overrides, f"paths.output_dir={tmp_path}/outputs"))
    run = plan.series.run(0).folder
    run.mkdir(parents=True)
    write_json(run / "metrics.json", {"seconds/inference": 3.0})
    result = command(tmp_path, *overrides, program="reproduce", PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0, result.stderr[-2000:]
    assert "-0.34" in result.stdout
    assert "written: outputs/reproduction/evaluation.md" in result.stdout
    page = tmp_path / "outputs" / "reproduction" / "report" / "index.html"
    assert str(page) in result.stdout
    assert page.is_file()
    assert not imports(result.stderr) & set(SLOW)


def test_help_lists_all_tables_and_figures(tmp_path: Path) -> None:
    result = command(tmp_path, "--help", program="reproduce")
    assert all(name in result.stdout for name in (*TABLES, *FIGURES, "smoke"))


@pytest.mark.slow
def test_triangle_figure_takes_a_list_of_data_sets(tmp_path: Path) -> None:
    result = command(tmp_path, "figure=triangles", "datasets=[cora]", program="reproduce")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "outputs" / "reproduction" / "triangles.png").stat().st_size > 5000
    assert "written: outputs/reproduction/triangles.png" in result.stdout
