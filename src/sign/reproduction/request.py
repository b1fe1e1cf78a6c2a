"""What to reproduce, checked before anything is trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from sign.datasets.base import Dataset
from sign.validation import Range, Validated

TableName = Literal[
    "inductive",
    "ablation",
    "products",
    "papers100M",
    "timing",
    "evaluation",
    "reductions",
    "graphs",
    "baselines",
    "heads",
    "beyond",
]
FigureName = Literal["triangles", "convergence"]
TABLES: tuple[str, ...] = get_args(TableName)
FIGURES: tuple[str, ...] = get_args(FigureName)
COSTS = ("baselines_epoch", "baselines_inference", "baselines_memory")  # of the runs of the baselines table
SMOKE_RUNS = 2  # the fewest that have a standard deviation


@dataclass(frozen=True)
class Request(Validated):
    """Tables and figures, and how their cells are trained.

    ``datasets`` are those of the triangle figure, in place of the paper's; ``scale`` is that of the generated graphs
    that replace unavailable ones in the timing table; ``tracker`` logs every run; ``settings`` are overrides for every
    run.
    """

    table: Literal[TableName, "all", "smoke"] | None
    figure: FigureName | None
    datasets: tuple[Dataset, ...]
    runs: Annotated[int | None, Range(1)]
    scale: Annotated[float, Range(1e-6, 1)]
    tracker: Literal["csv", "wandb"]
    settings: tuple[str, ...]
    data_dir: str
    store_dir: str
    output_dir: str

    @property
    def smoke(self) -> bool:
        """Whether small generated graphs replace the data sets."""
        return self.table == "smoke"

    @property
    def tables(self) -> tuple[str, ...]:
        """The requested tables; those whose settings were searched on real graphs have no look-alikes."""
        if self.smoke:
            return tuple(name for name in TABLES if name not in ("baselines", "beyond"))
        names = TABLES if self.table == "all" else (self.table,) if self.table else ()
        return (*names, *COSTS) if "baselines" in names else names

    @property
    def figures(self) -> tuple[str, ...]:
        """The requested figures."""
        return FIGURES if self.table in ("all", "smoke") else (self.figure,) if self.figure else ()

    @property
    def seeds(self) -> int:
        """Runs per cell: ten as in the paper, unless ``runs`` is set."""
        return self.runs or (SMOKE_RUNS if self.smoke else 10)

    @property
    def folder(self) -> Path:
        """The folder of tables and figures."""
        folder = Path(self.output_dir) / "reproduction"
        return folder / "smoke" if self.smoke else folder
