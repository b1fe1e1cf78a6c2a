"""Requests for tables and figures of the paper, checked as the command checks them."""

from pathlib import Path

from hydra import compose, initialize_config_dir

from sign.commands.reproduce import request_of
from sign.config.configure import CONF
from sign.reproduction.request import Request


def requested(folder: Path, *overrides: str) -> Request:
    """The request of ``src/reproduce.py`` with these overrides, with all paths below ``folder``."""
    paths = [f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")]
    with initialize_config_dir(str(CONF)):
        return request_of(compose("reproduce", overrides=[*paths, *overrides]))
