"""Export a trained model: ``python src/export.py run=outputs/… path=model``; ``--help`` shows the settings."""

from sign.cli import run
from sign.commands.export import main

if __name__ == "__main__":
    run(main, "export", uses_run=True)
