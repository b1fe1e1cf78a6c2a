"""What to reproduce, checked before anything is trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from sign.datasets.base import Dataset
from sign.validation import Range, Validated

TABLES = ("inductive", "ablation", "products", "papers100M", "timing", "evaluation", "reductions", "graphs")
FIGURES = ("triangles", "convergence")
SMOKE_RUNS = 2  # enough for a deviation


@dataclass(frozen=True)
class Request(Validated):
    """Tables and figures, and how their cells are trained.

    ``datasets`` are those of the triangle figure, in place of the paper's; ``settings`` are overrides for every run.
    """

    table: (
        Literal[
            "inductive",
            "ablation",
            "products",
            "papers100M",
            "timing",
            "evaluation",
            "reductions",
            "graphs",
            "all",
            "smoke",
        ]
        | None
    )
    figure: Literal["triangles", "convergence"] | None
    datasets: tuple[Dataset, ...]
    runs: Annotated[int | None, Range(1)]
    logger: Literal["csv", "none", "wandb"]
    settings: tuple[str, ...]
    data_dir: str
    store_dir: str
    output_dir: str

    @property
    def smoke(self) -> bool:
        """Whether small generated graphs stand for the data sets."""
        return self.table == "smoke"

    @property
    def whole(self) -> bool:
        """Whether every table and figure is wanted."""
        return self.table in ("all", "smoke")

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are wanted."""
        return TABLES if self.whole else (self.table,) if self.table else ()

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that are wanted."""
        return FIGURES if self.whole else (self.figure,) if self.figure else ()

    @property
    def seeds(self) -> int:
        """Runs of each cell: ten as in the paper, unless it says otherwise."""
        return self.runs or (SMOKE_RUNS if self.smoke else 10)

    @property
    def folder(self) -> Path:
        """Where tables and figures go."""
        folder = Path(self.output_dir) / "reproduction"
        return folder / "smoke" if self.smoke else folder
