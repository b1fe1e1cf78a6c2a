"""Train SIGN: ``python src/train.py dataset=cora model.p=4``; ``--help`` shows the settings."""

from sign.cli import run
from sign.commands.train import main

if __name__ == "__main__":
    run(main)
