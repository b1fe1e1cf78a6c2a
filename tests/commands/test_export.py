"""The export command: from a run folder to a folder with the model, or one message."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from common.overrides import SMALL
from common.paths import REPOSITORY
from hydra import compose, initialize_config_dir

from sign.commands.export import main
from sign.config.settings import Settings
from sign.diffusion.export import export as export_hops
from sign.errors import SignError
from sign.experiments.run import run

QUICK = (*SMALL, "dataset.nodes=500", "dataset.edges=2000", "training.max_epochs=2")


def folder_of(settings: Settings) -> Path:
    (folder,) = (settings.output_dir / settings.dataset.name / settings.slug).iterdir()
    return folder


def export(*overrides: str) -> None:
    with initialize_config_dir(str(REPOSITORY / "conf")):
        cfg = compose("export", overrides=list(overrides))
    main(cfg)


@pytest.mark.slow
def test_a_run_is_exported_with_its_metrics(
    configured: Callable[..., Settings], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = configured(*QUICK, "dataset.inductive=true")
    numbers, folder = run(settings), folder_of(settings)
    export(f"run={folder}", f"path={tmp_path / 'model'}", "optimize=int8")
    printed = capsys.readouterr().out
    assert f"test accuracy │     {numbers['test/accuracy']:.4f}" in printed
    assert "model.onnx" in printed
    metrics = json.loads((tmp_path / "model" / "model.json").read_text())["metrics"]
    for name, values in metrics.items():
        assert values["checkpoint"] == pytest.approx(numbers[name], abs=1e-6)
        assert values["exported"] == pytest.approx(numbers[name], abs=0.03)
    (folder / "checkpoints" / "best.ckpt").write_bytes(b"damaged")
    with pytest.raises(SignError, match=r"best\.ckpt: not a checkpoint of SIGN"):
        export(f"run={folder}", f"path={tmp_path / 'other'}")
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_a_model_that_was_trained_on_a_pack_is_exported_without_the_graph(
    configured: Callable[..., Settings], tmp_path: Path
) -> None:
    source = configured(*QUICK).precomputation
    export_hops(source, *source.run(), tmp_path / "pack")
    model = (override for override in QUICK if not override.startswith("dataset"))
    settings = configured("dataset=pack", f"dataset.path={tmp_path / 'pack'}", *model)
    numbers = run(settings)
    export(f"run={folder_of(settings)}", f"path={tmp_path / 'model'}", "format=torch")
    metrics = json.loads((tmp_path / "model" / "model.json").read_text())["metrics"]
    assert metrics["test/accuracy"]["exported"] == pytest.approx(numbers["test/accuracy"], abs=0.01)


def test_a_wrong_request_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"is not the folder of a run: it has no config\.yaml"):
        export(f"run={tmp_path}", "path=model")
    (tmp_path / "config.yaml").touch()
    with pytest.raises(SignError, match="format=tf: choose one of onnx, torch"):
        export(f"run={tmp_path}", "path=model", "format=tf")
