"""The metrics of a trained run, recomputed on its graph or on another one."""

import json
from dataclasses import fields
from pathlib import Path

from omegaconf import DictConfig

from sign.commands.train import score_table
from sign.config.trained import trained_settings
from sign.graph.graph import SPLITS
from sign.prediction.settings import Evaluation
from sign.system.console import console


def main(cfg: DictConfig) -> None:
    """Print the metrics, and write them to a file if one is named."""
    evaluation = Evaluation(**{field.name: cfg[field.name] for field in fields(Evaluation)})
    settings = trained_settings(evaluation.folder, cfg)
    from sign.prediction.evaluate import evaluate  # imports torch: not before the checks
    from sign.prediction.model import TrainedModel
    from sign.prediction.outputs import check_writable, writing

    if evaluation.output:
        check_writable(Path(evaluation.output))
    model = TrainedModel.load(evaluation.folder, evaluation.checkpoint)
    splits = SPLITS if evaluation.split == "all" else (evaluation.split,)
    metrics = evaluate(settings, model, splits)
    console.print(score_table(f"{settings.title} on {settings.dataset.name}", metrics, splits))
    if evaluation.output:
        with writing(Path(evaluation.output)) as temporary:
            temporary.write_text(json.dumps(metrics, indent=2) + "\n")
        console.print(f"written: {evaluation.output}", soft_wrap=True)
