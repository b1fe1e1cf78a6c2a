"""The command line of a worker: the running program with other overrides."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from omegaconf import DictConfig


@dataclass(frozen=True)
class Program:
    """The running program, with the flags and the ``hydra`` overrides that its workers share."""

    file: Path
    flags: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()

    @classmethod
    def from_config(cls, config: DictConfig) -> "Program":
        """Describe the running program by its composed configuration."""
        hydra = config.hydra
        flags = ["--config-name", str(hydra.job.config_name)]
        for source in hydra.runtime.config_sources:
            if source.provider == "command-line":  # Hydra's name for the source of --config-dir
                flags += ["--config-dir", str(source.path)]
        overrides = [override for override in hydra.overrides.hydra if not override.startswith("hydra.mode=")]
        return cls(Path(sys.argv[0]).resolve(), tuple(flags), tuple(overrides))

    @property
    def search_path(self) -> list[str]:
        """The override that keeps the user's ``--config-dir`` available when another one takes its place."""
        folders = [f"file://{value}" for flag, value in pairwise(self.flags) if flag == "--config-dir"]
        return [f"hydra.searchpath=[{', '.join(folders)}]"] if folders else []

    def command(self, overrides: Iterable[str], name: str = "train") -> list[str]:
        """Return the file and arguments of a worker; ``name`` replaces ``train`` by another program beside it."""
        file = self.file.with_name(self.file.name.replace("train", name))
        return [str(file), *self.flags, *self.overrides, *overrides]
