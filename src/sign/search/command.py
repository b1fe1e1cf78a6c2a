"""The command that runs one job of a sweep: the program that was started, with other words."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from omegaconf import DictConfig

FROM_COMMAND_LINE = "command-line"  # how Hydra calls the folder of --config-dir


@dataclass(frozen=True)
class Program:
    """A program of ``src/``, and the flags and settings of Hydra's own that its jobs share."""

    file: Path
    flags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: DictConfig) -> "Program":
        """The program that is running."""
        hydra = config.hydra
        flags = ["--config-name", str(hydra.job.config_name)]
        for source in hydra.runtime.config_sources:
            if source.provider == FROM_COMMAND_LINE:
                flags += ["--config-dir", str(source.path)]
        words = [word for word in hydra.overrides.hydra if not word.startswith("hydra.mode=")]
        return cls(Path(sys.argv[0]).resolve(), tuple(flags), tuple(words))

    @property
    def search_path(self) -> list[str]:
        """The words by which Hydra finds the user's own folder of configurations when another one is given."""
        own = [f"file://{folder}" for flag, folder in pairwise(self.flags) if flag == "--config-dir"]
        return [f"hydra.searchpath=[{', '.join(own)}]"] if own else []

    def command(self, words: Iterable[str], sibling: str | None = None) -> list[str]:
        """One job; ``sibling`` is another program beside this one."""
        file = self.file.with_name(sibling) if sibling else self.file
        return [sys.executable, str(file), *self.flags, *self.words, *words]


def quoted(value: object) -> str:
    """A value as Hydra reads it back, whatever characters are in it."""
    return "'" + str(value).replace("'", "\\'") + "'"
