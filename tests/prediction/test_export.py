"""Exported models equal their checkpoint, say what they need, and are written whole or not at all."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from common.heads import SETTINGS, head, name_of

from sign import __version__
from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.graph.feature_scaling import FeatureScaling
from sign.models.architecture import Architecture
from sign.models.sign import SIGN
from sign.prediction.evaluate import evaluate
from sign.prediction.export import export, save
from sign.prediction.export_metrics import LabelledRows, compare
from sign.prediction.model import TrainedModel
from sign.prediction.settings import Export
from sign.training.task import SIGNTask

FEATURES, CLASSES = 5, 4
DATA = ("dataset=communities", "dataset.nodes=300", "dataset.edges=900", "dataset.classes=4", "dataset.features=5")
TRAINING = {"learning_rate": 0.01, "weight_decay": 0.0, "batch_size": 64, "max_epochs": 1, "patience": 1}
TRAINING |= {"monitor": "val/loss"}
SMALL = ("model.p=1", "model.s=1", "model.inception_units=8", "model.classification_units=8")


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., Export]:
    """Requests to export to ``model``."""
    (tmp_path / "config.yaml").touch()
    return lambda **changes: Export(run=str(tmp_path), **{"path": str(tmp_path / "model"), "format": "torch"} | changes)


def trained(multilabel: bool = False, thresholds: list[float] | None = None, **changes: Any) -> TrainedModel:
    """A model of three hops whose weights and batch norm statistics are random."""
    architecture = {"inception_layers": 1, "classification_layers": 1, "inception_units": 8, "classification_units": 6}
    architecture |= {"dropout": 0.5, "input_dropout": 0.1, "batch_norm": True, "activation": "prelu"} | changes
    generator = torch.Generator().manual_seed(1)
    task = SIGNTask(
        features=FEATURES,
        hops=dict.fromkeys(("X", "p1", "s1"), FEATURES),
        classes=CLASSES,
        multilabel=multilabel,
        architecture=SIGN(**architecture).to_plain(),
        training=TRAINING,
        class_names=["a", "b", "c", "d"],
        feature_scaling={"method": "standardize", "dtype": "float32", "mean": [0.5] * 5, "deviation": [2.0] * 5},
        hop_scaling="l2",
    ).eval()
    for value in task.network.state_dict().values():
        if value.is_floating_point():
            value.uniform_(0.1, 1.5, generator=generator).mul_(torch.randn(value.shape, generator=generator).sign())
    for name, value in task.network.named_buffers():
        if name.endswith("running_var"):
            value.abs_()
    task.thresholds = thresholds
    return TrainedModel.of(task)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in SETTINGS if kind is not SIGN], ids=name_of)
def test_every_head_is_exported(request_for: Callable[..., Export], tmp_path: Path, kind: type[Architecture]) -> None:
    """In the format of ONNX, which is made from that of torch."""
    torch.manual_seed(0)
    hops = {"X": FEATURES, "p1": FEATURES, "l1": CLASSES}
    network = {
        "hops": hops,
        "architecture": head(kind).to_plain(),
        "feature_scaling": FeatureScaling("none").to_plain(),
    }
    task = SIGNTask(FEATURES, classes=CLASSES, multilabel=False, training=TRAINING, **network).eval()
    model, request = TrainedModel.of(task), request_for(format="onnx")
    score = save(model, request, tmp_path / request.file)
    for count in (1, 7):
        wide = torch.randn(count, model.columns)
        with torch.no_grad():
            np.testing.assert_allclose(score(wide).numpy(), task(wide).numpy(), rtol=1e-4, atol=1e-5)


def rows(count: int) -> torch.Tensor:
    return torch.randn(count, 3 * FEATURES, generator=torch.Generator().manual_seed(count))


@pytest.mark.slow
@pytest.mark.parametrize("format", ["onnx", "torch"])
@pytest.mark.parametrize("output", ["logits", "probabilities"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"multilabel": True, "activation": "relu", "inception_layers": 2},
        {"batch_norm": False},
        {"multilabel": True, "inception_layers": 0, "classification_layers": 0},
    ],
    ids=["prelu", "multilabel-relu", "without-batch-norm", "linear"],
)
def test_an_exported_model_equals_its_checkpoint(
    request_for: Callable[..., Export], tmp_path: Path, format: str, output: str, changes: dict[str, Any]
) -> None:
    model, request = trained(**changes), request_for(format=format, output=output)
    score = save(model, request, tmp_path / request.file)
    for count in (1, 7):
        with torch.no_grad():
            expected = model.task(rows(count))
        if output == "probabilities":
            expected = expected.sigmoid() if model.multilabel else expected.softmax(dim=1)
        np.testing.assert_allclose(score(rows(count)).numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("format", "optimize"), [("onnx", "int8"), ("torch", "bf16")])
def test_an_optimised_model_is_close_to_its_checkpoint_and_smaller(
    request_for: Callable[..., Export], tmp_path: Path, format: str, optimize: str
) -> None:
    model, sizes = trained(inception_units=128, classification_units=128), []
    for kind in ("none", optimize):
        request = request_for(format=format, optimize=kind)
        score = save(model, request, tmp_path / request.file)
        sizes.append((tmp_path / request.file).stat().st_size)
    with torch.no_grad():
        expected = model.task(rows(50)).numpy()
    difference = np.abs(score(rows(50)).numpy() - expected).max() / np.abs(expected).max()
    assert 0 < difference < 0.05
    assert sizes[1] < 0.7 * sizes[0]


def settings_and_model(configured: Callable[..., Settings], **changes: Any) -> tuple[Settings, TrainedModel]:
    multilabel = changes.get("multilabel", False)
    settings = configured(*DATA, *SMALL, f"dataset.multilabel={str(multilabel).lower()}")
    return settings, trained(**changes)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["onnx", "torch"])
@pytest.mark.parametrize(("multilabel", "output"), [(False, "logits"), (True, "logits"), (True, "probabilities")])
def test_the_lines_of_the_readme_score_a_batch(
    configured: Callable[..., Settings],
    request_for: Callable[..., Export],
    monkeypatch: pytest.MonkeyPatch,
    format: str,
    multilabel: bool,
    output: str,
) -> None:
    settings, model = settings_and_model(configured, multilabel=multilabel, thresholds=[0.3, 0.4, 0.5, 0.6])
    request = request_for(format=format, output=output, measure=False)
    export(settings, model, request)
    monkeypatch.chdir(request.path)
    np.save("rows.npy", rows(7).numpy())
    (code,) = re.findall(r"```python\n(.*?)```", Path("README.md").read_text(), re.DOTALL)
    assert len(code.splitlines()) == 5
    names: dict[str, Any] = {}
    exec(code, names)
    with torch.no_grad():
        expected = model.task(rows(7)).numpy()
    if multilabel:
        np.testing.assert_array_equal(names["labels"], model.decide(expected))
    else:
        assert names["classes"].tolist() == [model.class_names[number] for number in expected.argmax(axis=1)]


def test_the_description_says_what_rows_and_scores_are(
    configured: Callable[..., Settings], request_for: Callable[..., Export], tmp_path: Path
) -> None:
    settings, model = settings_and_model(configured, multilabel=True, thresholds=[0.3, 0.4, 0.5, 0.6])
    metrics = export(settings, model, request_for())
    assert sorted(file.name for file in (tmp_path / "model").iterdir()) == ["README.md", "model.json", "model.pt2"]
    content = json.loads((tmp_path / "model" / "model.json").read_text())
    assert content["inputs"] == [{"name": "rows", "shape": ["batch", 15], "dtype": "float32"}]
    assert content["outputs"] == [{"name": "logits", "shape": ["batch", 4], "dtype": "float32"}]
    hops = [(hop["name"], hop["power"], hop["columns"]) for hop in content["hops"]]
    assert hops == [("X", 0, [0, 5]), ("p1", 1, [5, 10]), ("s1", 1, [10, 15])]
    assert content["hops"][0]["operator"] is None
    assert content["hops"][1]["operator"] == settings.powers["p"][0].describe()
    assert content["feature_scaling"] == model.feature_scaling.to_plain()
    assert (content["sign"], content["format"], content["precision"]) == (__version__, "torch", "float32")
    assert (content["hop_scaling"], content["class_names"]) == ("l2", ["a", "b", "c", "d"])
    assert content["thresholds"] == [0.3, 0.4, 0.5, 0.6]
    assert content["metrics"] == metrics
    assert set(metrics) == {"val/micro_f1", "test/micro_f1"}


@pytest.mark.parametrize("output", ["logits", "probabilities"])
@pytest.mark.parametrize("multilabel", [False, True])
def test_the_metrics_are_those_of_the_scores(
    configured: Callable[..., Settings], request_for: Callable[..., Export], multilabel: bool, output: str
) -> None:
    settings, model = settings_and_model(configured, multilabel=multilabel)
    metrics = export(settings, model, request_for(output=output))
    expected = evaluate(settings, model)
    metric = "micro_f1" if multilabel else "accuracy"
    assert set(metrics) == {f"val/{metric}", f"test/{metric}"}
    for name, values in metrics.items():
        assert values["checkpoint"] == pytest.approx(expected[name], abs=1e-6)
        assert values["exported"] == pytest.approx(values["checkpoint"], abs=0.01)


def test_the_metrics_of_the_exported_model_are_its_own(configured: Callable[..., Settings]) -> None:
    settings, model = settings_and_model(configured)
    labelled = LabelledRows.of_run(settings, model)
    always_first = torch.tensor([1.0, 0, 0, 0])
    metrics = compare(settings, model, labelled, lambda rows: always_first.expand(len(rows), -1), "logits")
    for split, labels in labelled.labels.items():
        assert metrics[f"{split}/accuracy"]["exported"] == pytest.approx((labels == 0).mean())


def test_a_missing_extra_is_one_message(
    configured: Callable[..., Settings], request_for: Callable[..., Export], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    request = request_for(format="onnx")
    with pytest.raises(SignError, match=r"onnxruntime is not installed; pip install .*'\.\[onnx\]'"):
        export(*settings_and_model(configured), request)
    assert not request.folder_to_write.exists()


def test_a_folder_that_cannot_be_written_is_one_message(
    configured: Callable[..., Settings], request_for: Callable[..., Export], tmp_path: Path
) -> None:
    settings, model = settings_and_model(configured)
    (tmp_path / "file").write_text("mine")
    for path, message in (("file", "is not empty"), ("file/model", "cannot be written"), (".", "is not empty")):
        with pytest.raises(SignError, match=message):
            export(settings, model, request_for(path=str(tmp_path / path), measure=False))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_failed_export_leaves_nothing(
    configured: Callable[..., Settings],
    request_for: Callable[..., Export],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    settings, model = settings_and_model(configured)

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sign.prediction.export.write_json", fail)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SignError, match=r"cannot be written \(no space left on device\)"):
        export(settings, model, request_for(measure=False))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("format", "optimize", "instead"), [("torch", "int8", "onnx"), ("onnx", "bf16", "torch")])
def test_what_a_runtime_cannot_do_is_refused(
    request_for: Callable[..., Export], format: str, optimize: str, instead: str
) -> None:
    with pytest.raises(FieldError, match=f"optimize={optimize}: .*use format={instead}"):
        request_for(format=format, optimize=optimize)
