"""Settings of the commands that use a trained model. Free of torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sign.errors import FieldError
from sign.runs import CHECKPOINTS, CONFIG
from sign.validation import Count, Validated

TABLES = (".parquet", ".csv")
ARRAY = ".npy"


@dataclass(frozen=True, kw_only=True)
class TrainedRun(Validated):
    """A checkpoint of a run: its folder, or the path of a checkpoint in it or beside its configuration."""

    run: str
    checkpoint: Literal["best", "last"] = "best"

    def __post_init__(self) -> None:
        path = Path(str(self.run)).expanduser()
        if path.suffix == ".ckpt":
            folder = path.parents[1] if path.parent.name == CHECKPOINTS else path.parent
            object.__setattr__(self, "checkpoint", path.stem)
            object.__setattr__(self, "run", str(folder))
        super().__post_init__()
        if not (self.folder / CONFIG).is_file():
            raise FieldError("run", self.run, f"is not the folder of a run: it has no {CONFIG}")

    @property
    def folder(self) -> Path:
        """The run folder."""
        return Path(self.run).expanduser()


@dataclass(frozen=True, kw_only=True)
class Evaluation(TrainedRun):
    """Which split to evaluate, or ``all``, and the JSON file for the metrics, if any."""

    split: Literal["all", "train", "val", "test"] = "all"
    output: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output is not None and Path(self.output).suffix != ".json":
            raise FieldError("output", self.output, "must end with .json")


@dataclass(frozen=True, kw_only=True)
class Prediction(TrainedRun):
    """What to write about which nodes.

    ``what`` is ``predictions``, ``embeddings`` (the last hidden layer) or ``hops`` (the rows that the network reads);
    ``nodes`` is a split, ``all`` or a file of node ids. The ending of ``output`` selects the format; None: a Parquet
    file in the run folder. ``top`` is the number of classes per node, most probable first. The network computes in
    ``precision``.
    """

    nodes: str = "all"
    what: Literal["predictions", "embeddings", "hops"] = "predictions"
    output: str | None = None
    probabilities: Literal["best", "all"] = "best"
    top: Count = 1
    precision: Literal["float32", "bf16"] = "float32"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output is not None and Path(self.output).suffix not in (*TABLES, ARRAY):
            raise FieldError("output", self.output, f"must end with {', '.join((*TABLES, ARRAY))}")
        if self.what != "predictions" and (self.top, self.probabilities) != (1, "best"):
            raise FieldError("what", self.what, "top and probabilities belong to what=predictions")
        if self.what == "hops" and self.precision != "float32":
            raise FieldError("precision", self.precision, "is that of the network, which what=hops does not use")

    @property
    def file(self) -> Path:
        """The file to write."""
        return self.folder / f"{self.what}.parquet" if self.output is None else Path(self.output).expanduser()


@dataclass(frozen=True, kw_only=True)
class Export(TrainedRun):
    """In which form a model is written to the new folder ``path``.

    ``format`` is ``onnx`` or ``torch`` (a program of ``torch.export``); ``output`` is what the model returns;
    ``optimize`` quantises it to 8 bits (ONNX only) or lets it compute in bfloat16 (torch only). Unless ``measure`` is
    false, its accuracy is measured on the validation and test nodes, for which the data set is needed.
    """

    path: str
    format: Literal["onnx", "torch"] = "onnx"
    output: Literal["logits", "probabilities"] = "logits"
    optimize: Literal["none", "int8", "bf16"] = "none"
    measure: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.format, self.optimize) == ("torch", "int8"):
            raise FieldError("optimize", self.optimize, "is quantisation by ONNX Runtime; use format=onnx")
        if (self.format, self.optimize) == ("onnx", "bf16"):
            rule = "ONNX Runtime has no layers in bfloat16 for CPUs; use format=torch or optimize=int8"
            raise FieldError("optimize", self.optimize, rule)

    @property
    def folder_to_write(self) -> Path:
        """The new folder."""
        return Path(self.path).expanduser()

    @property
    def file(self) -> str:
        """The name of the model's file in the folder."""
        return {"onnx": "model.onnx", "torch": "model.pt2"}[self.format]
