"""Models in the ONNX format, which ONNX Runtime scores without torch. Needs the extra ``onnx``."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from sign.errors import SignError
from sign.prediction.scoring import Score
from sign.system.program import install_command

PACKAGES = ("onnx", "onnxruntime", "onnxscript")  # torch's exporter needs the last
INPUT = "rows"


def check_installed() -> None:
    """Raise unless the packages that write and run ONNX models are installed."""
    try:
        for name in PACKAGES:
            import_module(name)
    except ImportError as error:
        raise SignError(
            f"format=onnx: {error.name} is not installed; {install_command('onnx')}, or use format=torch"
        ) from error


def save(network: nn.Module, example: Tensor, output: str, file: Path) -> None:
    """Write a network that takes any number of rows."""
    import onnx

    with _quiet():
        program = torch.onnx.export(
            network,
            (example,),
            dynamo=True,
            dynamic_shapes=({0: Dim("batch", min=1)},),
            input_names=[INPUT],
            output_names=[output],
            verbose=False,
        )
    model: Any = program.model_proto if program else None
    # Shapes of weights would be wrong after quantisation, which transposes some; metadata name files of this machine.
    for entries in (model.graph.value_info, model.metadata_props, *(node.metadata_props for node in model.graph.node)):
        del entries[:]
    onnx.save(model, file)


def quantize(file: Path) -> None:
    """Quantise the weights of a file to 8 bits; activations are quantised when rows are scored."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = file.with_suffix(".prepared")
    quant_pre_process(str(file), str(prepared), skip_optimization=True, skip_symbolic_shape=True)
    # Unsigned: products of signed weights saturate on processors without VNNI.
    quantize_dynamic(prepared, file, weight_type=QuantType.QUInt8, per_channel=True)
    prepared.unlink()


def load(file: Path) -> Score:
    """What a file says about a block of rows, by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return lambda rows: torch.from_numpy(session.run(None, {INPUT: rows.numpy()})[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out what torch's exporter says about itself."""
    registration = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = registration.level
    registration.setLevel(logging.ERROR)  # it misses torchvision
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)` is deprecated", FutureWarning)
            yield
    finally:
        registration.setLevel(level)
