"""Entry points: run a Hydra application, and say every expected error in one sentence."""

import functools
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from sign.config.configure import CONF
from sign.config.instantiate import allowed_targets
from sign.errors import SignError
from sign.search.hydra_plugins import register
from sign.search.settings import check_multirun
from sign.search.worker import as_worker
from sign.system.console import show_log
from sign.training.ranks import launched_rank

FULL_ERROR = "HYDRA_FULL_ERROR"
EXPECTED = (SignError, HydraException, OmegaConfBaseException, OSError)  # of the user's making


def run(task: Callable[[DictConfig], Any], config_name: str = "train") -> None:
    """Compose the configuration of the command line and hand it to ``task``.

    An expected error becomes one sentence and exit code 1; with HYDRA_FULL_ERROR=1 it is a traceback.
    """
    sys.argv[1:] = map(spelled, sys.argv[1:])
    show_log()
    register()
    task = as_worker(task)
    full = os.environ.get(FULL_ERROR, "0") not in ("", "0")
    main = hydra.main(config_path=str(CONF), config_name=config_name, execution_whitelist=allowed_targets())
    if full:
        main(task)()
        return

    @functools.wraps(task)
    def reported(cfg: DictConfig) -> Any:
        os.environ.pop(FULL_ERROR, None)  # not for the processes that the task starts
        try:
            check_multirun(cfg)
            return task(cfg)
        except EXPECTED as error:
            _exit(error)

    os.environ[FULL_ERROR] = "1"  # Hydra then hands its own errors on instead of printing them
    try:
        main(reported)()
    except EXPECTED as error:
        _exit(error)
    except KeyboardInterrupt as error:
        if not launched_rank():
            print(" ".join(["interrupted", *map(str, error.args)]), file=sys.stderr)
        sys.exit(130)
    finally:
        os.environ.pop(FULL_ERROR, None)  # where there was no task to do it


def spelled(word: str) -> str:
    """A word as Hydra takes it: Spark's names of masters are quoted, its settings need not be listed in a file.

    >>> spelled("engine.master=local[2]"), spelled("engine.conf.spark.task.cpus=2"), spelled("model.p=4")
    ("engine.master='local[2]'", '++engine.conf.spark.task.cpus=2', 'model.p=4')
    """
    if word.startswith("engine.conf."):
        return f"++{word}"
    return re.sub(r"^(engine\.master)=(local\[[^]']*\])$", r"\1='\2'", word)


def _exit(error: BaseException) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    if not launched_rank():  # else rank 0 prints it
        print(f"error: {sentence(error)}", file=sys.stderr)
    sys.exit(1)


def sentence(error: BaseException) -> str:
    """What is wrong, which value, what to do."""
    if isinstance(error, SignError):
        return str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"{group}={name}: no such choice; take one of {', '.join(sorted(error.options))}"
    if isinstance(error, OverrideParseException):
        return f"{error.override}: cannot be read as name=value (quote what holds special characters)"
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}: has no default; give {error.full_key}=…"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    text = str(error.__cause__ or error) if isinstance(error, HydraException) else str(error)
    if match := re.search(r"Could not override '([^']+)'", f"{error}"):
        return f"{match[1]}: there is no such setting; --help shows all"
    return " ".join(line.strip() for line in text.splitlines() if line.strip())
