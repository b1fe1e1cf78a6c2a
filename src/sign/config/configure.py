"""Overrides ▶ composed configuration ▶ checked settings of a run.

Nothing slow is imported here: a wrong setting is reported before torch is loaded.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from sign.baselines.base import GraphModel
from sign.baselines.label_propagation import LabelPropagation
from sign.config.choices import check_choices, no_such_setting
from sign.config.defaults import EXAMPLE, with_defaults
from sign.config.identity import CHANGES_NUMBERS
from sign.config.instantiate import TRUST, build, instantiate_section, section_class, writable_folder
from sign.config.overrides import expand_home, normalize_override
from sign.config.resolvers import register_resolvers
from sign.config.resume import check_content, checkpoint_of, resumed_config, run_folder_of
from sign.config.settings import Settings
from sign.datasets.base import Dataset
from sign.datasets.exported_hops import ExportedHops
from sign.diffusion.labels import LETTER as LABELS
from sign.diffusion.labels import LabelDiffusion, LabelFolds
from sign.diffusion.positions import LETTER as POSITIONS
from sign.diffusion.positions import LaplacianPositions
from sign.diffusion.precompute import Powers
from sign.engines.base import Engine
from sign.engines.spark.engine import SparkEngine
from sign.errors import FieldError, SignError
from sign.models.architecture import Architecture
from sign.operators.base import Operator
from sign.runs import Run
from sign.smoothing.base import Smoothing
from sign.store.store import Store
from sign.system.program import CONF, command_line
from sign.tracking.base import Tracker
from sign.training.placement import Placement
from sign.training.settings import Device, JobType, Scaling, Training, ValidationMetric
from sign.validation import MAX_POWER, Count, Range, Seed, check, check_name

MODEL_KEYS = ("_target_", "name", "title", "branches", "operators", "labels", "positions")
SECTIONS = ("dataset", "model", "engine", "trainer", "logger", "paths", "training", "scaling", "store", "smoothing")


def compose(*overrides: str) -> DictConfig:
    """Return the configuration of a training command, in any program: ``compose("dataset=cora", "model.p=4")``."""
    register_resolvers()
    with _our_hydra():
        cfg = hydra.compose("train", overrides=list(map(normalize_override, overrides)), return_hydra_config=True)
        check_choices(cfg.hydra, GlobalHydra.instance().config_loader())
    with open_dict(cfg):
        del cfg["hydra"]
    expand_home(cfg)
    return cfg


@contextmanager
def _our_hydra() -> Iterator[None]:
    """Use Hydra as the command that runs has initialised it, or else for the moment; a program may use it itself."""
    theirs = GlobalHydra.instance().hydra
    if theirs and any(str(CONF) in str(entry.path) for entry in theirs.config_loader.get_search_path().get_path()):
        yield
        return
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(str(CONF)):
            yield
    finally:
        GlobalHydra.instance().hydra = theirs


def override(name: str, value: Any) -> str:
    """Return a setting as an override, quoted so that Hydra reads the same value back.

    >>> override("model.p", 4), override("group", "a, 'b'"), override("paths.output_dir", "/tmp/x")
    ('model.p=4', "group='a, \\\\'b\\\\''", 'paths.output_dir=/tmp/x')
    """
    if not isinstance(value, str):
        return f"{name}={json.dumps(value)}"
    reserved = value.lower() in ("true", "false", "null", "nan", "inf")
    plain = re.fullmatch(r"[A-Za-z_/][\w./-]*", value) and not reserved
    return f"{name}={value}" if plain else f"{name}='" + value.replace("'", "\\'") + "'"


def configure(cfg: DictConfig, overrides: Iterable[str] | None = None) -> Settings:
    """Check a composed configuration and build the objects that it names.

    Parameters
    ----------
    cfg
        The composed configuration; it is resolved in place.
    overrides
        What ``cfg`` was composed with, by default the overrides of the running command. A resumed run takes only
        the settings that they name from ``cfg``.

    Raises
    ------
    SignError
        If a setting is missing, unknown or out of range.
    """
    if os.environ.get(TRUST) and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # the user's modules lie where the command is started
    if overrides is None:
        overrides = HydraConfig.get().overrides.task if HydraConfig.initialized() else []
    if checkpoint := checkpoint_of(OmegaConf.select(cfg, "ckpt_path")):
        cfg.ckpt_path = str(checkpoint)
    if run := run_folder_of(checkpoint):
        cfg = resumed_config(cfg, run, overrides)
    experiment = _experiment(cfg, resumed=run is not None)
    OmegaConf.resolve(cfg)
    plain: Any = OmegaConf.to_container(cfg, throw_on_missing=True)
    plain["experiment"] = experiment
    search = plain.pop("search", None) or {}  # how runs are chosen is no part of one
    search_metric = search.get("metric", "val/loss")
    check("search.metric", search_metric, ValidationMetric)
    _check_outline(plain)
    model = plain["model"]
    baseline = None if "operators" in model else instantiate_section(cfg, "model", GraphModel)
    powers = {} if baseline else _powers(cfg, model)
    _check_sections(with_defaults(plain, EXAMPLE), powers, baseline)
    engine = _engine(cfg, baseline)
    store = build("store", Store, plain["store"])
    dataset = instantiate_section(cfg, "dataset", Dataset)
    smoothing = _smoothing(cfg, baseline, engine, dataset)
    _check_stages(plain["training"]["stages"], baseline, dataset)
    if POSITIONS in powers and dataset.inductive:
        rule = "those of the training graph have nothing to do with those of the whole graph; use model.positions=0, or"
        raise FieldError("model.positions", model["positions"], f"{rule} dataset.inductive=false")
    if run:
        check_content(dataset, run)
    title = model["title"] or (baseline.name if baseline else _title(model["name"], powers))
    return Settings(
        dataset=dataset,
        model=model["name"],
        title=title,
        branches=model.get("branches", "all"),
        powers=powers,
        engine=engine,
        store=replace(store, rows="all") if smoothing.enabled else store,  # predictions of all nodes are smoothed
        tracker=instantiate_section(cfg, "logger", Tracker),
        device=build("trainer", Device, plain["trainer"]),
        seed=plain["seed"],
        output_dir=writable_folder("paths.output_dir", plain["paths"]["output_dir"]),
        ckpt_path=checkpoint,
        config=plain,
        runs=plain.get("runs", 1),
        job_type=plain.get("job_type", "train"),
        group=plain.get("group") or experiment or f"{dataset.name} {title}",
        experiment=experiment,
        search_metric=search_metric,
        baseline=baseline,
        smoothing=smoothing,
        pseudo_labels=Run(run).pseudo_labels if run else None,
    )


def _check_stages(stages: int, baseline: GraphModel | None, dataset: Dataset) -> None:
    """Refuse self-training where there are no rows, or where training must not see nodes outside of the split."""
    if stages > 1 and baseline:
        raise FieldError("training.stages", stages, f"{baseline.name} is not trained on hops; use training.stages=1")
    if stages > 1 and dataset.inductive:
        rule = "trains on nodes that the inductive protocol hides; use dataset.inductive=false, or training.stages=1"
        raise FieldError("training.stages", stages, rule)


def _experiment(cfg: DictConfig, resumed: bool) -> str | None:
    """The experiment that the configuration names, or the file of ``conf/experiment`` that it was composed with."""
    experiment: str | None = OmegaConf.select(cfg, "experiment")
    if experiment is None and not resumed and HydraConfig.initialized():
        experiment = HydraConfig.get().runtime.choices.get("experiment")
    return experiment


def _engine(cfg: DictConfig, baseline: GraphModel | None) -> Engine:
    engine = instantiate_section(cfg, "engine", Engine)
    if baseline and isinstance(engine, SparkEngine):
        raise SignError(f"engine=spark: {baseline.name} multiplies in every epoch, on this machine; use engine=local")
    return engine


def _smoothing(cfg: DictConfig, baseline: GraphModel | None, engine: Engine, dataset: Dataset) -> Smoothing:
    """Build the smoothing, and refuse it where it cannot be applied."""
    smoothing = instantiate_section(cfg, "smoothing", Smoothing)
    if not smoothing.enabled:
        return smoothing
    name = OmegaConf.select(cfg, "smoothing._target_").rpartition(".")[2]
    if isinstance(engine, SparkEngine):
        raise SignError(f"engine=spark: {name} multiplies on this machine; use engine=local")
    if isinstance(dataset, ExportedHops):
        raise SignError(f"dataset.path={dataset.path}: exported hops have no graph for {name}; use smoothing=none")
    if isinstance(baseline, LabelPropagation):
        raise SignError(f"model={baseline.name}: propagates labels itself; use smoothing=none")
    if build("trainer", Device, OmegaConf.to_container(cfg.trainer)).several:  # type: ignore[arg-type]
        raise SignError(
            f"trainer.devices={cfg.trainer.devices}: {name} is computed by one process; train with smoothing=none, "
            f"then: {command_line('eval')} run=… smoothing=…"
        )
    return smoothing


def _check_outline(plain: dict[str, Any]) -> None:
    """Check that all sections are present, and nothing else."""
    for name in SECTIONS:
        if not isinstance(plain.get(name), dict):
            raise SignError(f"{name}={plain.get(name)}: a run needs this section; --help shows its choices")
    for name in plain.keys() - CHANGES_NUMBERS.keys():
        raise no_such_setting(name, plain)
    check("seed", plain.get("seed"), Seed)
    check("runs", plain.get("runs", 1), Count)
    check("job_type", plain.get("job_type", "train"), JobType)
    check("group", plain.get("group"), str | None)
    check("trial", plain.get("trial"), Annotated[int | None, Range(0)])
    for kind in ("data_dir", "store_dir", "output_dir"):
        check(f"paths.{kind}", plain["paths"].get(kind), str)
    if not Path(plain["paths"]["store_dir"]).is_dir():  # one that exists may be read-only, if it has all hops
        writable_folder("paths.store_dir", plain["paths"]["store_dir"])
    check_name(plain["model"].get("name"), "model.name")
    check("model.title", plain["model"].get("title"), str | None)
    if "operators" not in plain["model"]:
        return
    check("model.branches", plain["model"].get("branches"), Literal["all", "last"])
    if not isinstance(plain["model"].get("operators"), dict):
        raise SignError(f"model.operators={plain['model'].get('operators')}: name an operator for each letter")


def _powers(cfg: DictConfig, model: dict[str, Any]) -> Powers:
    """Each letter of ``model.operators`` with its operator and its highest power."""
    powers = {}
    for letter in model["operators"]:
        check_name(letter, "model.operators")
        if letter not in model:
            raise SignError(f"model.{letter}: the operator has no highest power; add one, such as +model.{letter}=1")
        power: Any = model[letter]
        if type(power) is not int or power < 0:
            rule = f"a power must be an integer >= 0; use model.{letter}=0 to leave it out"
            raise FieldError(f"model.{letter}", power, rule)
        if power > MAX_POWER:
            raise FieldError(f"model.{letter}", power, f"a power must be <= {MAX_POWER}")
        operator = instantiate_section(cfg, f"model.operators.{letter}", Operator)
        powers[letter] = (_of_labels(operator, model) if letter == LABELS else operator, power)
    positions: Any = model.get("positions", 0)
    check("model.positions", positions, Annotated[int, Range(0, 1000)])
    if positions and POSITIONS in powers:
        raise SignError(f"model.operators.{POSITIONS}: is the letter of model.positions; use another one")
    return powers | ({POSITIONS: (LaplacianPositions(positions), 1)} if positions else {})


def _of_labels(operator: Operator, model: dict[str, Any]) -> Operator:
    """The diffusion of labels by an operator."""
    settings = model.get("labels")
    if not isinstance(settings, dict):
        raise SignError(f"model.labels={settings}: label hops need folds and a seed, such as {{folds: 5, seed: 0}}")
    try:
        return LabelDiffusion(operator, build("model.labels", LabelFolds, settings))
    except FieldError as error:
        raise error if error.field.startswith("model.") else error.within("model") from None


def _check_sections(plain: dict[str, Any], powers: Powers, baseline: GraphModel | None) -> None:
    """Check network, training and scaling; of settings that are chosen later, some value."""
    training = build("training", Training, plain["training"])
    scaling = build("scaling", Scaling, plain["scaling"])
    _check_label_dropout(training, powers)
    if baseline:
        _check_baseline(baseline, scaling, training, build("trainer", Device, plain["trainer"]))
        return
    network = {key: value for key, value in plain["model"].items() if key not in (*powers, *MODEL_KEYS)}
    architecture = build("model", section_class("model", plain["model"].get("_target_"), Architecture), network)
    if architecture.needs_two_rows and training.batch_size == 1:
        raise FieldError("training.batch_size", 1, "batch norm needs two rows; use model.batch_norm=false")


def _check_label_dropout(training: Training, powers: Powers) -> None:
    """Refuse to drop label hops that the model does not have."""
    if training.label_dropout and not powers.get(LABELS, (None, 0))[1]:
        rule = f"the model has no label hops; use model.{LABELS}=1 or more, or training.label_dropout=0"
        raise FieldError("training.label_dropout", training.label_dropout, rule)


def _check_baseline(baseline: GraphModel, scaling: Scaling, training: Training, device: Device) -> None:
    """Refuse what only models that are trained on hops have."""
    for name, value in (("rows", training.rows), ("shuffle", training.shuffle)):
        if value not in ("auto", asdict(Placement())[name]):
            raise FieldError(f"training.{name}", value, f"{baseline.name} has no rows of hops; use auto")
    if scaling.hops != "none":
        raise FieldError("scaling.hops", scaling.hops, f"{baseline.name} has no hops; use scaling.hops=none")
    if device.several:
        raise FieldError("trainer.devices", device.devices, f"{baseline.name} is trained by one process; use 1")
    if device.compile:
        raise FieldError("trainer.compile", "true", f"batches of {baseline.name} have no fixed shape; use false")


def _title(name: str, powers: Powers) -> str:
    """The model as the paper writes it, SIGN(p,s,t), or SIGN(p,d,f); operators that it does not have are named."""
    used = {letter: power for letter, (_, power) in powers.items() if power}
    letters = "pdf" if used.keys() & set("df") and not used.keys() & set("st") else "pst"
    shown = [str(used.get(letter, 0)) for letter in letters]
    shown += [f"{letter}={power}" for letter, power in used.items() if letter not in letters]
    return f"{name}({','.join(shown)})"
