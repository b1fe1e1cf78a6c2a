"""Trained models are loaded from run folders, or refused with one message."""

import shutil
from pathlib import Path

import pytest
import torch
from common.trained import settings_of, train

from sign.errors import FieldError, SignError
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.scoring import inference_network
from sign.prediction.settings import Evaluation, Prediction


def test_a_checkpoint_has_all_that_scoring_needs(tmp_path: Path) -> None:
    run = train(tmp_path, "scaling.features=standardize", "scaling.hops=l2")
    model = TrainedModel.load(run, "last")
    assert (model.hops, model.features, model.classes) == ({"X": 1433, "p1": 1433}, 1433, 7)
    assert model.hop_scaling == "l2"
    assert model.feature_scaling.mean is not None
    assert len(model.feature_scaling.mean) == 1433
    assert not model.inductive


def test_a_checkpoint_beside_its_configuration_is_enough(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "dataset=communities", "dataset.nodes=150", "dataset.edges=500",
                "dataset.multilabel=true", "training.threshold=validation")  # fmt: skip
    flat = tmp_path / "flat"
    flat.mkdir()
    for file in (run / "config.yaml", run / "checkpoints" / "best.ckpt"):
        shutil.copy(file, flat)
    request = Prediction(run=str(flat / "best.ckpt"))
    assert request.folder == flat
    thresholds = TrainedModel.load(request.folder, request.checkpoint).thresholds
    assert thresholds == TrainedModel.load(run).thresholds != [0.5] * 10
    with pytest.raises(SignError, match=r"last.ckpt: has no thresholds, which the end of training chooses"):
        TrainedModel.load(run, "last")


def test_a_configuration_of_other_hops_is_refused(tmp_path: Path) -> None:
    run = train(tmp_path, "dataset=communities", "dataset.nodes=150", "dataset.edges=500")
    file = run / "config.yaml"
    file.write_text(file.read_text().replace("  p: 1\n", "  p: 0\n").replace("  s: 0\n", "  s: 1\n"))
    model = TrainedModel.load(run)
    with pytest.raises(SignError, match="names the hops X, s1, but the network was trained on X, p1; restore"):
        evaluate(settings_of(run), model)
    with pytest.raises(SignError, match="names the hops X, s1"):
        predict(settings_of(run), model, Prediction(run=str(run)))
    file.write_text(file.read_text().split("engine:")[0])
    with pytest.raises(SignError, match=r"config.yaml: has no section \w+, so it is damaged; restore it"):
        settings_of(run)


@pytest.mark.parametrize("activation", ["relu", "prelu"])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_a_network_for_inference_computes_the_same(activation: str, layers: int) -> None:
    from sign.models.sign import SIGN

    torch.manual_seed(0)
    architecture = SIGN(layers, 5, layers, 6, activation, 0.5, 0.3, batch_norm=True)  # type: ignore[arg-type]
    network = architecture.network({"X": 4, "p1": 4, "p2": 4}, 2)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.weight)
    folded, rows = inference_network(network), torch.randn(7, 12)
    torch.testing.assert_close(folded(rows), network.eval()(rows))
    assert not any(isinstance(module, torch.nn.BatchNorm1d) for module in folded.modules())


def test_only_known_heads_are_built_from_a_checkpoint() -> None:
    from sign.models.architecture import from_plain, heads
    from sign.models.sign import SIGN

    architecture = SIGN(1, 5, 0, 6, "relu", 0.5, 0.3, batch_norm=True)
    assert from_plain(architecture.to_plain()) == architecture
    assert heads()["sign"] is SIGN
    with pytest.raises(KeyError):
        from_plain(architecture.to_plain() | {"head": "os.system"})


def test_folders_without_a_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FieldError, match=r"run=.*: is not the folder of a run: it has no config.yaml"):
        Prediction(run=str(tmp_path))
    (tmp_path / "config.yaml").write_text("{}")
    with pytest.raises(SignError, match=r"has no checkpoints/best.ckpt; name the folder of a trained run"):
        TrainedModel.load(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "best.ckpt").write_bytes(b"no checkpoint")
    with pytest.raises(SignError, match="not a checkpoint of SIGN"):
        TrainedModel.load(tmp_path)
    assert Evaluation(run=str(tmp_path / "checkpoints" / "last.ckpt")).checkpoint == "last"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"output": "p.xlsx"}, r"output=p.xlsx: must end with .parquet, .csv, .npy"),
        ({"what": "hops", "top": 2}, "what=hops: top and probabilities belong to what=predictions"),
        ({"top": 0}, "top=0: must be an integer >= 1"),
    ],
)
def test_wrong_requests_are_refused(tmp_path: Path, settings: dict, message: str) -> None:
    (tmp_path / "config.yaml").write_text("{}")
    with pytest.raises(FieldError, match=message):
        Prediction(run=str(tmp_path), **settings)
