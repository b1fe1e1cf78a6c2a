"""Print and plot the statistics of a graph: ``python src/describe.py dataset=cora``."""

from sign.cli import run
from sign.commands.describe import main

if __name__ == "__main__":
    run(main, "describe")
