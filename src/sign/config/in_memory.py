"""Settings of a program that trains on, or diffuses, a graph of its own: composed and checked as those of a command."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from sign.config.composition_errors import composition_message
from sign.config.configure import compose, configure, override
from sign.config.identity import changes_numbers, flatten
from sign.config.instantiate import instantiate_section
from sign.config.settings import Settings
from sign.datasets.base import Dataset
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.graph.graph import Graph
from sign.runs import Run

BASE = ("tuned=null", "logger=csv")  # a graph of one's own has no tuned settings
REFUSED = ("dataset", "experiment", "tuned", "hparams_search", "runs", "ckpt_path")
OF_THE_MODEL = ("model", "training", "scaling", "store", "trainer")  # sections that change its numbers
OF_THE_MACHINE = ("dataset", "engine", "logger", "paths", "trainer")  # sections that a saved run does not bring along


def composed(settings: dict[str, Any], overrides: Iterable[str] = ()) -> DictConfig:
    """Compose the configuration of settings by dotted names; ``overrides`` of the command line come after them.

    Raises
    ------
    SignError
        If an override is none, or about what the program itself decides.
    """
    if isinstance(overrides, str):
        raise SignError(f"overrides={overrides!r}: is a string; give a list of name=value")
    overrides = list(overrides)
    for text in overrides:
        if text.lstrip("+~").partition("=")[0].partition(".")[0] in REFUSED:
            raise SignError(f"overrides: {text}: a program trains one run on its own graph; leave it out")
    chosen = [*BASE, *(override(name, _plain(value)) for name, value in settings.items()), *overrides]
    return _compose({text.partition("=")[0]: text for text in chosen}.values())  # the last of a name counts


def configured(cfg: DictConfig, scratch: Path, store: str | Path | None, folder: str | Path | None = None) -> Settings:
    """Check a configuration whose store and runs lie in ``scratch`` unless folders are given.

    The recorded configuration names the usual folders in place of temporary ones.
    """
    recorded: Any = OmegaConf.to_container(cfg.paths, resolve=True)
    recorded |= {"store_dir": str(store)} if store is not None else {}
    recorded |= {"output_dir": str(folder)} if folder is not None else {}
    cfg.paths.store_dir = str(scratch / "store" if store is None else store)
    cfg.paths.output_dir = str(scratch / "outputs" if folder is None else folder)
    OmegaConf.update(cfg, "store.root", cfg.paths.store_dir, force_add=True)
    settings = configure(cfg, overrides=())
    if settings.baseline:
        raise SignError(f"model={settings.model}: a program trains models on hops, such as model=sign; use the command")
    if settings.smoothing.enabled:
        raise SignError("smoothing: a program gets the predictions of the network itself; use the command, or none")
    config = settings.config
    changed = {"paths": recorded, "store": {**config["store"], "root": recorded["store_dir"]}}
    return replace(settings, config={**config, **changed})


def on_graph(settings: Settings, graph: Graph) -> Settings:
    """Return the settings with a graph in memory as the data set, which the configuration names by its content."""
    dataset = InMemory.of(graph)
    described = {"name": dataset.name, "inductive": dataset.inductive, "content": dataset.content_digest()}
    config = {**settings.config, "dataset": described}
    return replace(settings, dataset=dataset, group=f"{dataset.name} {settings.title}", config=config)


def saved_config(run: Path) -> DictConfig:
    """Return the configuration of a run folder for use on this machine."""
    defaults = _compose(BASE)
    machine: Any = {name: defaults[name] for name in OF_THE_MACHINE}
    return OmegaConf.create({**Run(run).config, **machine, "ckpt_path": None, "runs": 1})


def as_overrides(config: dict[str, Any], known: Collection[str]) -> tuple[str, ...]:
    """Return the overrides that make a resolved configuration from the defaults, except for the ``known`` settings."""
    defaults: Any = OmegaConf.to_container(_compose(BASE), resolve=True)
    ours, theirs = (
        {
            name: value
            for name, value in flatten({section: settings[section] for section in OF_THE_MODEL}).items()
            if changes_numbers(name) and name not in known
        }
        for settings in (config, defaults)
    )
    changed = [override(f"++{name}", value) for name, value in ours.items() if theirs.get(name, ...) != value]
    return (*changed, *(f"~{name}" for name in theirs if name not in ours))


def load_dataset(name: str, **settings: Any) -> Graph:
    """Load a data set by its name in the configuration.

    Parameters
    ----------
    name
        A choice of ``dataset=``, such as ``cora``.
    settings
        Settings of the data set, such as ``data_dir="data"``.

    Returns
    -------
    Graph
        The graph with its features, labels and splits.

    Raises
    ------
    SignError
        If there is no such data set or setting, or its files are missing.

    Examples
    --------
    >>> graph = load_dataset("cora", train_per_class=5)
    >>> graph.nodes, len(graph.train), graph.classes
    (2708, 35, 7)
    """
    cfg = _compose([*BASE, f"dataset={name}", *(override(f"dataset.{key}", _plain(settings[key])) for key in settings)])
    OmegaConf.resolve(cfg.dataset)
    return instantiate_section(cfg, "dataset", Dataset).load()


def _compose(overrides: Iterable[str]) -> DictConfig:
    try:
        return compose(*overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise SignError(composition_message(error)) from error


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python, a path as text."""
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def check_graph(graph: Any) -> None:
    """Raise SignError unless an argument is a graph."""
    if not isinstance(graph, Graph):
        raise SignError(
            f"graph: a {type(graph).__name__} is not a sign.Graph; build one with Graph.from_edges, from_pyg or "
            "from_networkx"
        )
