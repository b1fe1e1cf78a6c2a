"""Run folders ▶ one page and a table: ``python src/report.py``; ``--help`` shows the settings."""

from omegaconf import DictConfig

from sign.cli import run
from sign.requests import report_request


def main(cfg: DictConfig) -> None:
    """Read the runs, write ``index.html`` and ``report.md``, and say where they are."""
    request = report_request(cfg)
    from sign.report.write import write_report

    write_report(request.folders, request.output)


if __name__ == "__main__":
    run(main, "report")
