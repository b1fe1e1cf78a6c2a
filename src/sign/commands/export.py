"""The model of a trained run, as a folder that is scored without this package."""

from dataclasses import fields

from omegaconf import DictConfig
from rich.table import Column, Table

from sign.config.trained import trained_settings
from sign.errors import SignError
from sign.prediction.settings import Export
from sign.runs import SCORES
from sign.system.console import console


def main(cfg: DictConfig) -> None:
    """Write the folder, and print what the exported model scores beside its checkpoint."""
    request = Export(**{field.name: cfg[field.name] for field in fields(Export)})
    settings = trained_settings(request.folder, cfg)
    if settings.smoothing.enabled:
        raise SignError(
            f"run={request.run}: its predictions are smoothed over the graph, which an exported model does not have; "
            "add smoothing=none to export the network alone"
        )
    from sign.prediction.export import export  # imports torch: not before the checks
    from sign.prediction.model import TrainedModel

    model = TrainedModel.load(request.folder, request.checkpoint)
    metrics = export(settings, model, request)
    if metrics:
        columns = (Column(name, justify="right") for name in ("checkpoint", "exported"))
        title = f"{settings.title} on {settings.dataset.name}"
        table = Table(Column(style="dim"), *columns, title=title, title_justify="left")
        for name, values in metrics.items():
            split, _, score = name.partition("/")
            table.add_row(f"{split} {SCORES[score]}", f"{values['checkpoint']:.4f}", f"{values['exported']:.4f}")
        console.print(table)
    console.print(f"exported: {request.folder_to_write / request.file}", soft_wrap=True)
