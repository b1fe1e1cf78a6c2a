"""Where the commands and their configuration lie, and how messages name a command."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = (PACKAGE / "scripts").is_dir()  # a wheel has the entry points and the configuration inside the package
SCRIPTS = PACKAGE / "scripts" if INSTALLED else PACKAGE.parent
CONF = PACKAGE / "conf" if INSTALLED else PACKAGE.parents[1] / "conf"


def install_command(extra: str) -> str:
    """Return how the user installs an extra here."""
    return f"pip install 'sign-gnn[{extra}]'" if INSTALLED else f"pip install -c requirements.lock '.[{extra}]'"


def command_line(name: str) -> str:
    """Return how the user starts the command ``name`` here: ``sign train``, or ``python src/train.py`` in a checkout.

    The path is the one that the user typed for the present command, which works in the same folder.
    """
    if INSTALLED:
        return f"sign {name}"
    typed = Path(sys.argv[0])
    scripts = typed.parent if typed.resolve().parent == SCRIPTS else Path("src")
    return f"python {scripts / f'{name}.py'}"
