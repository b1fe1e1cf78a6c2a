"""A trained model as a folder that is scored without this package: the network, its description, and how to use it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import sign
from sign.config.settings import Settings
from sign.models.networks.layers import separate_hops
from sign.prediction import onnx_format, torch_format
from sign.prediction.export_metrics import LabelledRows, compare
from sign.prediction.export_readme import readme
from sign.prediction.model import TrainedModel
from sign.prediction.scoring import Score, inference_network
from sign.prediction.settings import Export
from sign.system.atomic_files import check_new_folder, new_folder, write_json, write_text

DESCRIPTION = "model.json"
PRECISIONS = {"none": "float32", "int8": "int8", "bf16": "bfloat16"}
Metrics = Mapping[str, Mapping[str, float]]


class ExportedNetwork(nn.Module):
    """A network for inference that takes and returns float32, whatever it computes in."""

    def __init__(self, model: TrainedModel, request: Export) -> None:
        super().__init__()
        self.dtype = torch.bfloat16 if request.optimize == "bf16" else torch.float32
        self.network = inference_network(model.task.network).to(self.dtype)
        if request.optimize == "int8":
            separate_hops(self.network)
        self.multilabel, self.output = model.multilabel, request.output
        self.eval()

    def forward(self, rows: Tensor) -> Tensor:
        """Logits or probabilities of wide rows."""
        logits: Tensor = self.network(rows.to(self.dtype)).float()
        if self.output == "logits":
            return logits
        return logits.sigmoid() if self.multilabel else logits.softmax(dim=1)


def export(settings: Settings, model: TrainedModel, request: Export) -> Metrics:
    """Write the folder, atomically, and return the metrics of the checkpoint and of the exported model."""
    if request.format == "onnx":
        onnx_format.check_installed()
    check_new_folder(request.folder_to_write)
    labelled = LabelledRows.of_run(settings, model) if request.measure else None
    with new_folder(request.folder_to_write) as folder:
        score = save(model, request, folder / request.file)
        metrics = compare(settings, model, labelled, score, request.output) if labelled else {}
        write_json(folder / DESCRIPTION, describe(settings, model, request, metrics))
        write_text(folder / "README.md", readme(model, request))
    return metrics


def save(model: TrainedModel, request: Export, file: Path) -> Score:
    """Write the network, and return what the file says about rows."""
    network = ExportedNetwork(model, request)
    example = torch.zeros(2, model.columns)
    if request.format == "torch":
        torch_format.save(network, example, file)
        return torch_format.load(file)
    onnx_format.save(network, example, request.output, file)
    if request.optimize == "int8":
        onnx_format.quantize(file)
    return onnx_format.load(file)


def describe(settings: Settings, model: TrainedModel, request: Export, metrics: Metrics) -> dict[str, Any]:
    """What a program has to know to make rows for the model, and to read its scores."""
    return {
        "sign": sign.__version__,
        "format": request.format,
        "file": request.file,
        "precision": PRECISIONS[request.optimize],
        "inputs": [{"name": onnx_format.INPUT, "shape": ["batch", model.columns], "dtype": "float32"}],
        "outputs": [{"name": request.output, "shape": ["batch", model.classes], "dtype": "float32"}],
        "hops": _hops(settings, model),
        "features": model.features,
        "feature_names": model.feature_names,
        "feature_scaling": model.feature_scaling.to_plain(),
        "hop_scaling": model.hop_scaling,
        "classes": model.classes,
        "class_names": model.class_names,
        "multilabel": model.multilabel,
        "thresholds": model.thresholds if model.multilabel else None,
        "metrics": metrics,
    }


def _hops(settings: Settings, model: TrainedModel) -> list[dict[str, Any]]:
    """The hops in the order of the columns: X, or a power of an operator applied to X."""
    powers = model.operators(settings.powers)
    operators = {f"{k}{power}": (op, power) for k, (op, highest) in powers.items() for power in range(1, highest + 1)}
    hops: list[dict[str, Any]] = []
    first = 0
    for name, columns in model.hops.items():
        operator, power = operators.get(name, (None, 0))
        fields = operator.describe() if operator else None
        hops.append({"name": name, "operator": fields, "power": power, "columns": [first, first + columns]})
        first += columns
    return hops
