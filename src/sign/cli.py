"""Entry points: run a command as a Hydra application, and print every expected error as one line."""

import ast
import functools
import logging
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from sign import __version__
from sign.config.choices import check_choices
from sign.config.composition_errors import composition_message
from sign.config.instantiate import allowed_targets
from sign.config.overrides import add_to_run, check_flags, expand_home, normalize_override
from sign.config.resolvers import register_resolvers
from sign.errors import SignError, did_you_mean
from sign.search.hydra_plugins import register
from sign.search.settings import check_multirun
from sign.search.slots import local_ranks
from sign.search.worker import as_worker
from sign.system import threads
from sign.system.console import console, print_to_stderr, show_log
from sign.system.program import CONF, SCRIPTS
from sign.training.ranks import launched_rank

log = logging.getLogger(__name__)
FULL_ERROR = "HYDRA_FULL_ERROR"
EXPECTED = (SignError, HydraException, OmegaConfBaseException, OSError)  # errors that the user can fix


def run(main: Callable[[DictConfig], Any], config_name: str = "train", uses_run: bool = False) -> None:
    """Compose the configuration of the command line and pass it to ``main``.

    A command that ``uses_run`` takes overrides of a trained run's sections beside its own settings. An expected error
    is printed as one line, and the exit code is 1; with HYDRA_FULL_ERROR=1 it is a traceback.
    """
    overrides = map(normalize_override, sys.argv[1:])
    sys.argv[1:] = map(add_to_run, overrides) if uses_run else overrides
    show_log()
    load = threads.Load()
    register()
    register_resolvers()
    command = as_worker(main)
    application = hydra.main(config_path=str(CONF), config_name=config_name, execution_whitelist=allowed_targets())

    @functools.wraps(main)
    def checked(cfg: DictConfig) -> Any:
        check_choices(HydraConfig.get(), GlobalHydra.instance().config_loader())
        check_multirun(cfg)
        expand_home(cfg)
        description = threads.configure(load, local_ranks(cfg))
        if description and "training" in cfg and not launched_rank():
            log.info(description)
        return command(cfg)

    if os.environ.get(FULL_ERROR, "0") not in ("", "0"):
        application(checked)()
        return

    @functools.wraps(main)
    def reporting(cfg: DictConfig) -> Any:
        os.environ.pop(FULL_ERROR, None)  # not for the processes that the command starts
        try:
            return checked(cfg)
        except EXPECTED as error:
            _exit(error)
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            _exit(error)

    # Hydra prints its own errors over many lines and exits, unless this variable is set: then it raises them.
    os.environ[FULL_ERROR] = "1"
    try:
        check_flags(sys.argv[1:], config_name)
        application(reporting)()
    except EXPECTED as error:
        _exit(error)
    except KeyboardInterrupt as error:
        if not launched_rank():
            print_to_stderr(" ".join(["interrupted", *map(str, error.args)]))
        sys.exit(130)
    except Exception as error:
        if not _raised_by_hydra(error):
            raise
        _exit(error)
    finally:
        os.environ.pop(FULL_ERROR, None)  # if Hydra ended before it called the command


def main() -> None:
    """Run a command by its name: ``sign train dataset=cora``; the entry point of the installed package."""
    commands = {file.stem: file for file in sorted(SCRIPTS.glob("*.py"))}
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("-h", "--help"):
        console.print(f"SIGN: Scalable Inception Graph Neural Networks, version {__version__}\n")
        console.print("Commands (sign COMMAND --help shows its settings):")
        for command, file in commands.items():
            summary, _, _ = str(ast.get_docstring(ast.parse(file.read_text()))).partition(": ``")
            console.print(f"  sign {command:<11}{summary}", soft_wrap=True)
    elif name == "--version":
        console.print(__version__)
    elif name in commands:
        sys.argv = [str(commands[name]), *sys.argv[2:]]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        advice = did_you_mean(name, commands) or f"choose one of {', '.join(commands)}"
        print_to_stderr(f"error: {name}: no such command; {advice}")
        sys.exit(1)


def _exit(error: BaseException) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    if not launched_rank():  # else rank 0 prints it
        print_to_stderr(f"error: {error_message(error)}")
    sys.exit(error.exit_code if isinstance(error, SignError) else 1)


def error_message(error: BaseException) -> str:
    """Return one line for an expected error: what is wrong, which value, what to do."""
    if isinstance(error, SignError):
        return str(error).replace("\n", "\\n")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    if _is_out_of_memory(error):
        return f"not enough memory ({' '.join(str(error).split())}); use a smaller graph, network or batch"
    return composition_message(error)


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether an array did not fit into memory; torch raises a RuntimeError then."""
    allocator = "DefaultCPUAllocator" in str(error) or "out of memory" in str(error)
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and allocator)


def _raised_by_hydra(error: BaseException) -> bool:
    """Whether Hydra or OmegaConf raised an error: it is about the configuration then, whatever its class."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(("hydra.", "omegaconf."))
