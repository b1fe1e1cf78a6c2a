"""The command line as a user types it ▶ as Hydra's grammar, groups and flags ask for it."""

import os
import re
from collections.abc import Sequence
from typing import Any

import hydra
from omegaconf import DictConfig, OmegaConf

from sign.config.identity import flatten
from sign.errors import SignError, did_you_mean
from sign.system.program import CONF

# that a command may change for a trained run
SECTIONS_OF_RUN = ("dataset", "engine", "store", "paths", "trainer", "smoothing")
GLOBAL = ("experiment", "tuned", "hparams_search", "debug")  # groups that set other sections, and may be off
FLAGS = (  # of Hydra
    *("--help", "-h", "--hydra-help", "--version", "--cfg", "-c", "--resolve", "--package", "-p", "--run", "-r"),
    *("--multirun", "-m", "--shell-completion", "-sc", "--config-path", "-cp", "--config-name", "-cn"),
    *("--config-dir", "-cd", "--experimental-rerun", "--info", "-i"),
)
PARTS = ("job", "hydra", "all")  # of a configuration, for --cfg
GROUP = re.compile(r"\+*(\w[\w/]{,99})(@|$)")  # a file system refuses long names, so others are not looked up
HOME = re.compile(r"(?<=[=,\[])~[\w.-]*(?=[/,\]]|$)")
NOT_TEXT = re.compile(r"null|true|false|nan|[+-]?(inf|[\d.].*)", re.IGNORECASE)  # to Hydra; a choice is a name


def normalize_override(text: str) -> str:
    """Return what the user means by an override that Hydra would refuse or take for something else.

    ``~`` is the home folder, ``tuned=null`` removes a group, a choice is always a name, and settings of Spark need
    neither quotes nor plus signs.

    >>> normalize_override("engine.master=local[2]"), normalize_override("engine.conf.spark.task.cpus=2")
    ("engine.master='local[2]'", '++engine.conf.spark.task.cpus=2')
    >>> normalize_override("tuned=null"), normalize_override("dataset=1"), normalize_override("model.p=1")
    ('~tuned', "dataset='1'", 'model.p=1')
    >>> normalize_override("experiment=flickr_sign_401.yaml")
    'experiment=flickr_sign_401'
    """
    if text.startswith("engine.conf."):
        return f"++{text}"
    text = HOME.sub(lambda match: _expanded(match[0]), text)
    key, _, value = text.partition("=")
    if key in GLOBAL and value == "null":
        return f"~{key}"
    if key in GLOBAL and "null" in value.split(","):
        raise SignError(f"{text}: null cannot be one of several choices; start a command of its own with {key}=null")
    group = GROUP.match(key)
    if group and (CONF / group[1]).is_dir():
        value = re.sub(r"\.yaml(?=,|$)", "", value)
        return f"{key}='{value}'" if NOT_TEXT.fullmatch(value) else f"{key}={value}"
    return re.sub(r"^(engine\.master)=(local\[[^]']*\])$", r"\1='\2'", text)


def add_to_run(text: str) -> str:
    """Return an override of a trained run's settings, which the configuration of the command does not have.

    >>> add_to_run("dataset.path=new-graph"), add_to_run("dataset=custom"), add_to_run("nodes=all")
    ('++dataset.path=new-graph', 'dataset=custom', 'nodes=all')
    """
    return f"++{text}" if text.startswith(tuple(f"{section}." for section in SECTIONS_OF_RUN)) else text


def check_flags(arguments: Sequence[str], config_name: str) -> None:
    """Refuse flags that Hydra does not have, or would take for something else: settings have no dashes."""
    shows_config = any(argument.partition("=")[0] in ("--cfg", "-c") for argument in arguments)
    for index, argument in enumerate(arguments):
        flag, _, value = argument.partition("=")
        part = value or "".join(arguments[index + 1 : index + 2])
        if flag in ("--cfg", "-c") and part not in PARTS and not part.startswith("-"):
            raise SignError(f"{flag} {part}: choose one of {', '.join(PARTS)}")
        if not flag.startswith("-") or (flag in FLAGS and (flag not in ("-p", "--package") or shows_config)):
            continue
        if attached := re.fullmatch(r"(-[a-z])(\d+)", flag):  # -p4
            flag, value = attached.groups()
        if not value and index + 1 < len(arguments) and not re.search(r"^-|=", arguments[index + 1]):
            argument, value = f"{argument} {arguments[index + 1]}", arguments[index + 1]
        if flag == "--package":
            raise SignError(f"{argument}: selects what --cfg shows; use it with --cfg job")
        with hydra.initialize_config_dir(str(CONF)):
            plain: Any = OmegaConf.to_container(hydra.compose(config_name))
        name = flag.lstrip("-")
        meant = next((key for key in flatten(plain) if name in (key, key.rpartition(".")[2])), None)
        if meant:
            raise SignError(f"{argument}: not a flag; settings are written name=value: {meant}={value or '…'}")
        raise SignError(f"{argument}: no such flag; {did_you_mean(flag, FLAGS) or 'settings are written name=value'}")


def expand_home(cfg: DictConfig) -> None:
    """Replace a leading ``~`` in every value of a configuration, in place: only paths begin with one."""
    plain: Any = OmegaConf.to_container(cfg)
    for name, value in flatten(plain).items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(item, str) and item.startswith("~") for item in values):
            expanded = [_expanded(item) if isinstance(item, str) else item for item in values]
            OmegaConf.update(cfg, name, expanded if isinstance(value, list) else expanded[0])


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 (Path.expanduser raises where there is no such user)
