"""Run folders ▶ HTML page and table: ``python src/report.py``; ``--help`` shows the settings."""

from sign.cli import run
from sign.commands.report import main

if __name__ == "__main__":
    run(main, "report")
