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
    """A checkpoint of a run: its folder, or the path of a checkpoint in it."""

    run: str
    checkpoint: Literal["best", "last"] = "best"

    def __post_init__(self) -> None:
        path = Path(str(self.run)).expanduser()
        if path.suffix == ".ckpt" and path.parent.name == CHECKPOINTS:
            object.__setattr__(self, "checkpoint", path.stem)
            object.__setattr__(self, "run", str(path.parents[1]))
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
    file in the run folder. ``top`` is the number of classes per node, most probable first.
    """

    nodes: str = "all"
    what: Literal["predictions", "embeddings", "hops"] = "predictions"
    output: str | None = None
    probabilities: Literal["best", "all"] = "best"
    top: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output is not None and Path(self.output).suffix not in (*TABLES, ARRAY):
            raise FieldError("output", self.output, f"must end with {', '.join((*TABLES, ARRAY))}")
        if self.what != "predictions" and (self.top, self.probabilities) != (1, "best"):
            raise FieldError("what", self.what, "top and probabilities belong to what=predictions")

    @property
    def file(self) -> Path:
        """The file to write."""
        return self.folder / f"{self.what}.parquet" if self.output is None else Path(self.output).expanduser()
