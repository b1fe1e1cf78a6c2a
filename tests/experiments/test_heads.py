"""Every head is trained, tested and used as SIGN is."""

from collections.abc import Callable

import numpy as np
import pytest

from sign.config.settings import Settings
from sign.experiments.run import run
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction

CHANCE = 0.25
DATA = ("dataset=communities", "dataset.nodes=600", "dataset.edges=2400", "dataset.classes=4", "dataset.features=8")
TRAINING = ("training.max_epochs=8", "training.learning_rate=0.01", "training.batch_size=64")
HEADS = {
    "sign": ("model.aggregation=max", "model.inception_units=16", "model.classification_units=16"),
    "sagn": ("model.units=16", "model.heads=2"),
    "gamlp": ("model.units=16", "model.attention=recursive"),
    "hoga": ("model.units=16",),
    "nagphormer": ("model.units=16",),
    "gpr": ("model.units=16", "model.p=4"),
}


@pytest.mark.parametrize("model", HEADS)
def test_a_head_learns_from_all_operators_and_is_used_from_its_checkpoint(
    configured: Callable[..., Settings], model: str
) -> None:
    settings = configured(f"model={model}", "model.p=2", "model.t=1", "model.d=1", *HEADS[model], *DATA, *TRAINING)
    metrics = run(settings)
    assert metrics["test/accuracy"] > 1.5 * CHANCE
    assert settings.title.startswith(settings.config["model"]["name"])
    (folder,) = (settings.output_dir / "communities" / settings.slug).iterdir()
    trained = TrainedModel.load(folder)
    again = evaluate(settings, trained, ("test",))
    assert again["test/accuracy"] == metrics["test/accuracy"]
    file = folder / "embeddings.npy"
    predict(settings, trained, Prediction(run=str(folder), what="embeddings", output=str(file), nodes="test"))
    assert np.isfinite(np.load(file)).all()
