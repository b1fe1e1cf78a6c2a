"""Settings of the commands that use a trained model. Free of torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sign.errors import FieldError
from sign.validation import Count, Validated

TABLES = (".parquet", ".csv")
ARRAY = ".npy"


@dataclass(frozen=True)
class Prediction(Validated):
    """What to write about which nodes.

    ``what`` is ``predictions``, ``embeddings`` (the last hidden layer) or ``hops`` (the rows that the network reads);
    ``nodes`` is a split, ``all`` or a file of node ids. The ending of ``output`` selects the format; None: a Parquet
    file in the run folder. ``top`` is the number of classes per node, most probable first.
    """

    run: str
    checkpoint: Literal["best", "last"] = "best"
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
        return Path(self.run) / f"{self.what}.parquet" if self.output is None else Path(self.output)
