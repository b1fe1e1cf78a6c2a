"""Fill the store, without training: ``python src/precompute.py dataset=cora model.p=4``."""

from sign.cli import run
from sign.commands.precompute import main

if __name__ == "__main__":
    run(main)
