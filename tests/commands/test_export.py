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
from sign.errors import SignError
from sign.experiments.run import run


def export(*overrides: str) -> None:
    with initialize_config_dir(str(REPOSITORY / "conf")):
        cfg = compose("export", overrides=list(overrides))
    main(cfg)


@pytest.mark.slow
def test_a_run_is_exported_with_its_metrics(
    configured: Callable[..., Settings], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = configured(*SMALL, "dataset.nodes=500", "dataset.edges=2000", "training.max_epochs=2")
    numbers = run(settings)
    (folder,) = (settings.output_dir / settings.dataset.name / settings.slug).iterdir()
    here = (f"run={folder}", f"path={tmp_path / 'model'}")
    export(*here, "optimize=int8")
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


def test_a_wrong_request_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"is not the folder of a run: it has no config\.yaml"):
        export(f"run={tmp_path}", "path=model")
    (tmp_path / "config.yaml").touch()
    with pytest.raises(SignError, match="format=tf: choose one of onnx, torch"):
        export(f"run={tmp_path}", "path=model", "format=tf")
