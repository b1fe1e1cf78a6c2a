"""Entry points: run a command as a Hydra application, and print every expected error as one line."""

import ast
import functools
import os
import re
import runpy
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from sign import __version__
from sign.config.instantiate import allowed_targets
from sign.errors import SignError
from sign.search.hydra_plugins import register
from sign.search.settings import check_multirun
from sign.search.worker import as_worker
from sign.system.console import show_log
from sign.system.program import CONF, SCRIPTS
from sign.training.ranks import launched_rank

FULL_ERROR = "HYDRA_FULL_ERROR"
EXPECTED = (SignError, HydraException, OmegaConfBaseException, OSError)  # errors that the user can fix


def run(main: Callable[[DictConfig], Any], config_name: str = "train") -> None:
    """Compose the configuration of the command line and pass it to ``main``.

    An expected error is printed as one line, and the exit code is 1; with HYDRA_FULL_ERROR=1 it is a traceback.
    """
    sys.argv[1:] = map(normalize_override, sys.argv[1:])
    show_log()
    register()
    command = as_worker(main)
    application = hydra.main(config_path=str(CONF), config_name=config_name, execution_whitelist=allowed_targets())
    if os.environ.get(FULL_ERROR, "0") not in ("", "0"):
        application(command)()
        return

    @functools.wraps(main)
    def reporting(cfg: DictConfig) -> Any:
        os.environ.pop(FULL_ERROR, None)  # not for the processes that the command starts
        try:
            check_multirun(cfg)
            return command(cfg)
        except EXPECTED as error:
            _exit(error)

    # Hydra prints its own errors over many lines and exits, unless this variable is set: then it raises them.
    os.environ[FULL_ERROR] = "1"
    try:
        application(reporting)()
    except EXPECTED as error:
        _exit(error)
    except KeyboardInterrupt as error:
        if not launched_rank():
            print(" ".join(["interrupted", *map(str, error.args)]), file=sys.stderr)
        sys.exit(130)
    finally:
        os.environ.pop(FULL_ERROR, None)  # if Hydra ended before it called the command


def main() -> None:
    """Run a command by its name: ``sign train dataset=cora``; the entry point of the installed package."""
    commands = {file.stem: file for file in sorted(SCRIPTS.glob("*.py"))}
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("-h", "--help"):
        print(f"SIGN: Scalable Inception Graph Neural Networks, version {__version__}\n")
        print("Commands (sign COMMAND --help shows its settings):")
        for command, file in commands.items():
            summary, _, _ = str(ast.get_docstring(ast.parse(file.read_text()))).partition(": ``")
            print(f"  sign {command:<11}{summary}")
    elif name == "--version":
        print(__version__)
    elif name in commands:
        sys.argv = [str(commands[name]), *sys.argv[2:]]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        print(f"error: {name}: no such command; choose one of {', '.join(commands)}", file=sys.stderr)
        sys.exit(1)


def normalize_override(text: str) -> str:
    """Spare the user the quotes and plus signs that Hydra's grammar asks for in settings of Spark.

    >>> normalize_override("engine.master=local[2]"), normalize_override("engine.conf.spark.task.cpus=2")
    ("engine.master='local[2]'", '++engine.conf.spark.task.cpus=2')
    """
    if text.startswith("engine.conf."):
        return f"++{text}"
    return re.sub(r"^(engine\.master)=(local\[[^]']*\])$", r"\1='\2'", text)


def _exit(error: BaseException) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    if not launched_rank():  # else rank 0 prints it
        print(f"error: {error_message(error)}", file=sys.stderr)
    sys.exit(1)


def error_message(error: BaseException) -> str:
    """Return one line for an expected error: what is wrong, which value, what to do."""
    if isinstance(error, SignError):
        return str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"{group}={name}: no such choice; choose one of {', '.join(sorted(error.options))}"
    if isinstance(error, OverrideParseException):
        return f"{error.override}: cannot be parsed as name=value (quote special characters)"
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}: has no default; set {error.full_key}=…"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    text = str(error.__cause__ or error) if isinstance(error, HydraException) else str(error)
    if match := re.search(r"Could not override '([^']+)'", f"{error}"):
        return f"{match[1]}: there is no such setting; --help shows all"
    return " ".join(text.split())
