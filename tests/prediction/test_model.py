"""Trained models are loaded from run folders, or refused with one message."""

from pathlib import Path

import pytest
import torch
from common.trained import train

from sign.errors import FieldError, SignError
from sign.prediction.model import TrainedModel
from sign.prediction.scoring import inference_network
from sign.prediction.settings import Evaluation, Prediction


def test_a_checkpoint_has_all_that_scoring_needs(tmp_path: Path) -> None:
    run = train(tmp_path, "scaling.features=standardize", "scaling.hops=l2")
    model = TrainedModel.load(run, "last")
    assert (model.hops, model.features, model.classes) == (["X", "p1"], 1433, 7)
    assert model.hop_scaling == "l2"
    assert model.feature_scaling.mean is not None
    assert len(model.feature_scaling.mean) == 1433
    assert not model.inductive


@pytest.mark.parametrize("activation", ["relu", "prelu"])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_a_network_for_inference_computes_the_same(activation: str, layers: int) -> None:
    from sign.models.architecture import Architecture
    from sign.models.sign import SIGN

    torch.manual_seed(0)
    architecture = Architecture(layers, 5, layers, 6, activation, 0.5, 0.3, batch_norm=True)  # type: ignore[arg-type]
    network = SIGN(4, 3, 2, architecture)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.weight)
    folded, rows = inference_network(network), torch.randn(7, 12)
    torch.testing.assert_close(folded(rows), network.eval()(rows))
    assert not any(isinstance(module, torch.nn.BatchNorm1d) for module in folded.modules())


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
