"""Reproduce the paper: ``python src/reproduce.py table=inductive``; ``--help`` shows the other tables and figures."""

from sign.cli import run
from sign.commands.reproduce import main

if __name__ == "__main__":
    run(main, "reproduce")
