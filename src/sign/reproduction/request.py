"""What ``src/reproduce.py`` is asked for, checked before anything is trained."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from omegaconf import DictConfig, OmegaConf

from sign.config.instantiate import writable
from sign.errors import SignError
from sign.validation import Range, Validated

TABLES = ("inductive", "ablation", "products", "papers100M", "timing", "evaluation", "reductions", "graphs")
FIGURES = ("triangles", "convergence")
SMOKE_RUNS = 2  # enough for a deviation


@dataclass(frozen=True)
class Request(Validated):
    """Tables and figures, and how their cells are trained; ``settings`` are words for every run."""

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


def _words(settings: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Nested settings as words of a training command; all values are written so that Hydra reads them back."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _words(value, f"{above}{name}.")
        else:
            yield f"{above}{name}={json.dumps(value) if not isinstance(value, str) else _quoted(value)}"


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w./-]+", text) else "'" + text.replace("'", "\\'") + "'"


def request_of(cfg: DictConfig) -> Request:
    """Check the configuration of ``src/reproduce.py``."""
    OmegaConf.resolve(cfg)
    plain: Any = OmegaConf.to_container(cfg)
    paths = plain.pop("paths")
    known = {field.name for field in fields(Request)}
    for name in plain:
        if name not in known:
            raise SignError(f"{name}: there is no such setting; --help shows all")
    settings = plain.pop("settings")
    if not isinstance(settings, dict):
        raise SignError(f"settings={settings}: name what to set, such as +settings.trainer.accelerator=gpu")
    request = Request(**plain, **paths, settings=tuple(_words(settings)))
    if request.table is None and request.figure is None:
        raise SignError(
            f"table=null: say what to reproduce: table={', '.join((*TABLES, 'all', 'smoke'))}, "
            f"or figure={', '.join(FIGURES)}"
        )
    writable("paths.output_dir", request.output_dir)
    return request
