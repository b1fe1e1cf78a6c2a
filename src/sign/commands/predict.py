"""Predictions, embeddings or hop rows of a trained run, as a file."""

from dataclasses import fields
from pathlib import Path

from omegaconf import DictConfig

from sign.config.trained import trained_settings
from sign.prediction.settings import Prediction
from sign.system.console import console


def main(cfg: DictConfig) -> None:
    """Score the nodes and print the path of the file."""
    prediction = Prediction(**{field.name: cfg[field.name] for field in fields(Prediction)})
    settings = trained_settings(prediction.folder, cfg)
    from sign.prediction.model import TrainedModel  # imports torch: not before the checks
    from sign.prediction.predict import predict

    model = TrainedModel.load(prediction.folder, prediction.checkpoint)
    if settings.stays_on_cluster:
        from sign.prediction.cluster import predict_on_cluster

        with settings.engine.limits(Path(settings.store.root)):
            count = predict_on_cluster(settings, model, prediction)
    else:
        count = predict(settings, model, prediction)
    console.print(f"{prediction.what} of {count:,} nodes: {prediction.output or prediction.file}", soft_wrap=True)
