"""Where the commands and their configuration lie, and how messages name a command."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = (PACKAGE / "scripts").is_dir()  # a wheel has the entry points and the configuration inside the package
SCRIPTS = PACKAGE / "scripts" if INSTALLED else PACKAGE.parent
CONF = PACKAGE / "conf" if INSTALLED else PACKAGE.parents[1] / "conf"


def command_line(name: str) -> str:
    """Return how the user starts the command ``name`` here: ``sign train``, or ``python src/train.py`` in a checkout.

    A path is relative to the working folder, as the user typed the present command.
    """
    started = Path(sys.argv[0]).resolve().parent
    if started == SCRIPTS and not INSTALLED:
        return f"python {os.path.relpath(SCRIPTS / f'{name}.py')}"
    return f"sign {name}" if INSTALLED else f"python src/{name}.py"
