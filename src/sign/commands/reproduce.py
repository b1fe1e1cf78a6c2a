"""Reproduce the tables and figures of the paper."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from omegaconf import DictConfig, OmegaConf

from sign.config.choices import no_such_choice, no_such_setting
from sign.config.configure import override
from sign.config.identity import flatten
from sign.config.instantiate import instantiate_section, writable_folder
from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.reproduction.reproduce import Reproduction
from sign.reproduction.request import FIGURES, TABLES, Request
from sign.system.console import console
from sign.system.program import CONF


def main(cfg: DictConfig) -> None:
    """Train what is missing, and print our numbers beside the published ones."""
    reproduce(request_of(cfg))


def reproduce(request: Request) -> None:
    """Print every table and the path of every file; failed experiments raise an error at the end."""
    reproduction = Reproduction(request)
    for table in reproduction.tables():
        console.print(table.rich_table())
        for note in table.footnotes():
            console.print(note, style="dim", soft_wrap=True)
        console.print(f"written: {request.folder / table.name}.md", soft_wrap=True)
    for file in reproduction.figures():
        console.print(f"written: {file}", soft_wrap=True)
    reproduction.write_report()
    reproduction.check()


def request_of(cfg: DictConfig) -> Request:
    """Check the configuration of the command."""
    OmegaConf.resolve(cfg)
    plain: Any = OmegaConf.to_container(cfg)
    paths = plain.pop("paths")
    for name in plain.keys() - (known := {field.name for field in fields(Request)}):
        raise no_such_setting(name, known)
    settings, datasets = plain.pop("settings"), plain.pop("datasets")
    if not isinstance(settings, dict):
        raise SignError(f"settings={settings}: name what to set, such as +settings.trainer.accelerator=gpu")
    overrides = tuple(override(name, value) for name, value in flatten(settings).items())
    request = Request(**plain, **paths, settings=overrides, datasets=tuple(_datasets(datasets, paths)))
    if request.table is None and request.figure is None:
        choices = f"table={', '.join((*TABLES, 'all', 'smoke'))}, or figure={', '.join(FIGURES)}"
        raise SignError(f"table=null: choose what to reproduce: {choices}")
    if request.datasets and (request.smoke or "triangles" not in request.figures):
        raise SignError(f"datasets={datasets}: only figure=triangles takes a list of data sets")
    writable_folder("paths.output_dir", request.output_dir)
    return request


def _datasets(entries: Any, paths: Mapping[str, str]) -> Iterator[Dataset]:
    """The data sets of a list of names, or of names with settings: {amazon: {graph: computers}}."""
    if entries is None:
        return
    if not isinstance(entries, list) or not entries:
        raise SignError(f"datasets={entries}: give a list such as [cora,communities]")
    choices = sorted(file.stem for file in (CONF / "dataset").glob("*.yaml"))
    for entry in entries:
        ((name, changes),) = entry.items() if isinstance(entry, dict) else ((entry, {}),)
        if name not in choices:
            raise no_such_choice(f"datasets={name}", str(name), choices)
        node = OmegaConf.merge(OmegaConf.load(CONF / "dataset" / f"{name}.yaml"), changes)
        yield instantiate_section(OmegaConf.create({"dataset": node, "paths": dict(paths)}), "dataset", Dataset)
