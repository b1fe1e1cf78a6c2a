"""Score nodes with a trained run: ``python src/predict.py run=outputs/…``; ``--help`` shows the settings."""

from sign.cli import run
from sign.commands.predict import main

if __name__ == "__main__":
    run(main, "predict", uses_run=True)
