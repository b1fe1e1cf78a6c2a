"""Recompute the metrics of a trained run: ``python src/eval.py run=outputs/…``; ``--help`` shows the settings."""

from sign.cli import run
from sign.commands.eval import main

if __name__ == "__main__":
    run(main, "eval", uses_run=True)
