"""Manage stored hops: ``python src/store.py action=list``; ``--help`` shows the other actions."""

from sign.cli import run
from sign.commands.store import main

if __name__ == "__main__":
    run(main, "store")
