"""Save a view of the W&B project: ``python src/workspace.py logger.project=sign``."""

from sign.cli import run
from sign.commands.workspace import main

if __name__ == "__main__":
    run(main, "workspace")
