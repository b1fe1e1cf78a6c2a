"""Composed configuration ▶ the settings of a run, all checked.

Nothing slow is imported here: a wrong setting is answered before torch is loaded.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from sign.config.instantiate import TRUST, made, named, section, writable
from sign.datasets.base import Dataset
from sign.diffusion.precompute import Precomputation
from sign.engines.base import Engine
from sign.errors import FieldError, SignError
from sign.models.architecture import Architecture
from sign.operators.base import Operator
from sign.runs import CHECKPOINTS, CONFIG, Run
from sign.store.store import Store
from sign.tracking.base import Tracker
from sign.training.settings import Device, JobType, Scaling, Training
from sign.validation import Count, Power, Seed, check

CONF = Path(__file__).resolve().parents[3] / "conf"
# A resumed run keeps its settings; where and how long it runs may be changed.
FREE = (
    "trainer",
    "logger",
    "engine",
    "paths",
    "store",
    "training.max_epochs",
    "training.patience",
    "runs",
    "job_type",
    "group",
)


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know."""

    dataset: Dataset
    model: str
    title: str
    branches: str
    powers: dict[str, tuple[Operator, int]]
    architecture: Architecture
    training: Training
    scaling: Scaling
    engine: Engine
    store: Store
    tracker: Tracker
    device: Device
    seed: int
    output_dir: Path
    ckpt_path: Path | None
    composed: dict[str, Any]
    runs: int = 1
    job_type: JobType = "train"
    group: str = ""
    experiment: str | None = None
    run_folder: Path | None = None  # None: a new one, named by time and seed

    @property
    def precomputation(self) -> Precomputation:
        """What the hops depend on."""
        return Precomputation(
            self.dataset, self.powers, self.engine, self.store, self.scaling.features, self.branches
        )

    @property
    def slug(self) -> str:
        """The model as part of a path: sign-p4-t1."""
        used = [f"{letter}{power}" for letter, (_, power) in self.powers.items() if power]
        return "-".join([self.model.lower(), *used])


def configure(cfg: DictConfig, overrides: Iterable[str] | None = None) -> Settings:
    """Check a composed configuration and make what it names.

    ``overrides`` are the words of the command line; a resumed run has to know which settings were given.
    """
    if os.environ.get(TRUST) and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # the user's module lies where the command is started
    if overrides is None:
        overrides = HydraConfig.get().overrides.task if HydraConfig.initialized() else []
    experiment = chosen_experiment(cfg)
    if run := run_folder_of(OmegaConf.select(cfg, "ckpt_path")):
        cfg = _resumed(cfg, run, overrides)
        experiment = OmegaConf.select(cfg, "experiment")
    OmegaConf.resolve(cfg)
    plain: Any = OmegaConf.to_container(cfg, throw_on_missing=True)
    plain["experiment"] = experiment
    plain.pop("search", None)  # it says how runs are chosen, and is no part of one
    _check_outline(plain)
    model = plain["model"]
    powers = _powers(cfg, model)
    own = {key: value for key, value in model.items() if key not in (*powers, *MODEL_KEYS)}
    training, architecture = section(plain, "training", Training), made("model", Architecture, own)
    if architecture.batch_norm and training.batch_size == 1:
        raise FieldError("training.batch_size", 1, "batch norm needs two rows; use model.batch_norm=false")
    dataset, title = named(cfg, "dataset", Dataset), model["title"] or _title(model["name"], powers)
    return Settings(
        dataset=dataset,
        model=model["name"],
        title=title,
        branches=model["branches"],
        powers=powers,
        architecture=architecture,
        training=training,
        scaling=section(plain, "scaling", Scaling),
        engine=named(cfg, "engine", Engine),
        store=section(plain, "store", Store),
        tracker=named(cfg, "logger", Tracker),
        device=section(plain, "trainer", Device),
        seed=plain["seed"],
        output_dir=writable("paths.output_dir", plain["paths"]["output_dir"]),
        ckpt_path=_checkpoint(plain["ckpt_path"]),
        composed=plain,
        runs=plain.get("runs", 1),
        job_type=plain.get("job_type", "train"),
        group=plain.get("group") or experiment or f"{dataset.name} {title}",
        experiment=experiment,
    )


def chosen_experiment(cfg: DictConfig) -> str | None:
    """The file of ``conf/experiment`` that was chosen, on the command line or by who composed ``cfg``."""
    if (named := OmegaConf.select(cfg, "experiment")) is None and HydraConfig.initialized():
        named = HydraConfig.get().runtime.choices.get("experiment")
    return None if named is None else str(named)


def composed(*words: str) -> DictConfig:
    """The configuration of a training command, in any program: ``composed("dataset=cora", "model.p=4")``."""
    begun = GlobalHydra.instance().is_initialized()  # by the command that asks
    with nullcontext() if begun else initialize_config_dir(str(CONF)):
        return compose("train", overrides=list(words))


def run_folder_of(checkpoint: Any) -> Path | None:
    """The run folder that a checkpoint lies in, if it does."""
    path = Path(str(checkpoint)).resolve()
    inside = checkpoint is not None and path.parent.name == CHECKPOINTS
    return path.parents[1] if inside and (path.parents[1] / CONFIG).is_file() else None


MODEL_KEYS = ("name", "title", "branches", "operators")
SINGLE = ("seed", "runs", "ckpt_path", "job_type", "group", "experiment")
SECTIONS = ("dataset", "model", "engine", "trainer", "logger", "paths", "training", "scaling", "store")


def _check_outline(plain: dict[str, Any]) -> None:
    """All sections are there, and nothing else."""
    for name in SECTIONS:
        if not isinstance(plain.get(name), dict):
            raise SignError(f"{name}={plain.get(name)}: a run needs this section; --help shows its choices")
    for name in set(plain) - {*SECTIONS, *SINGLE}:
        raise SignError(f"{name}: there is no such setting; --help shows all")
    check("seed", plain.get("seed"), Seed)
    check("runs", plain.get("runs", 1), Count)
    check("job_type", plain.get("job_type", "train"), JobType)
    check("group", plain.get("group"), str | None)
    for kind in ("data_dir", "store_dir", "output_dir"):
        check(f"paths.{kind}", plain["paths"].get(kind), str)
    writable("paths.store_dir", plain["paths"]["store_dir"])
    check("model.name", plain["model"].get("name"), str)
    check("model.branches", plain["model"].get("branches"), Literal["all", "last"])
    if not isinstance(plain["model"].get("operators"), dict):
        raise SignError(
            f"model.operators={plain['model'].get('operators')}: name an operator for each letter"
        )


def _resumed(cfg: DictConfig, run: Path, overrides: Iterable[str]) -> DictConfig:
    """The configuration of the run whose checkpoint is given; only what is free may be changed."""
    base: Any = OmegaConf.create(Run(run).config)
    base.ckpt_path = cfg.ckpt_path
    for word in overrides:
        name = word.split("=")[0].lstrip("+~")
        if name == "ckpt_path":
            continue
        if free := next((section for section in FREE if name.startswith(section)), None):
            OmegaConf.update(base, free, OmegaConf.select(cfg, free), merge=False)
            continue
        then = OmegaConf.select(base, name)
        now = chosen_experiment(cfg) if name == "experiment" else OmegaConf.select(cfg, name)
        if isinstance(then, DictConfig) and isinstance(now, DictConfig):  # a choice such as dataset=cora
            then, now = then.get("name"), now.get("name")
        if then != now:
            raise SignError(
                f"{word}: the run that ckpt_path={cfg.ckpt_path} resumes is another model or has other data "
                f"({name}={then}); leave the setting out, or start a new run without ckpt_path"
            )
    return base  # type: ignore[no-any-return]


def _powers(cfg: DictConfig, model: dict[str, Any]) -> dict[str, tuple[Operator, int]]:
    """Each letter of ``model.operators`` with its operator and its highest power."""
    powers = {}
    for letter in model["operators"]:
        power: Any = model.get(letter)
        try:
            check(letter, power, Power)
        except FieldError:
            advice = f"a power must be a whole number >= 0; use model.{letter}=0 to leave it out"
            raise FieldError(f"model.{letter}", power, advice) from None
        powers[letter] = (named(cfg, f"model.operators.{letter}", Operator), power)
    return powers


def _title(name: str, powers: dict[str, tuple[Operator, int]]) -> str:
    """The model as the paper writes it: SIGN(p,s,t), or SIGN(p,d,f) where only those are used.

    An operator that the paper does not have is named.
    """
    exponents = {letter: power for letter, (_, power) in powers.items()}
    used = {letter for letter, power in exponents.items() if power}
    letters = "pdf" if used & set("df") and not used & set("st") else "pst"
    shown = [str(exponents.get(letter, 0)) for letter in letters]
    shown += [f"{letter}={exponents[letter]}" for letter in exponents if letter in used - set(letters)]
    return f"{name}({','.join(shown)})"


def _checkpoint(value: Any) -> Path | None:
    if value is None:
        return None
    path = Path(str(value))
    if not path.is_file():
        raise SignError(f"ckpt_path={value}: no such file; a run keeps its own under {CHECKPOINTS}/")
    return path
