"""Run folders ▶ one HTML page and a Markdown table."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, ListConfig, OmegaConf

from sign.errors import SignError
from sign.report.write import write_report
from sign.validation import check


@dataclass(frozen=True)
class ReportRequest:
    """Folders that are searched for runs, and the folder that the report is written to."""

    folders: list[Path]
    output: Path

    @classmethod
    def of(cls, cfg: DictConfig) -> "ReportRequest":
        """Check the configuration: the folders must exist; a single one may be given without brackets."""
        OmegaConf.resolve(cfg)
        folders = list(cfg.folders) if isinstance(cfg.folders, ListConfig) else [cfg.folders]
        if not folders or None in folders:
            raise SignError(f"folders={cfg.folders}: give folders that hold runs, such as folders=[outputs]")
        for folder in folders:
            if not Path(str(folder)).is_dir():
                raise SignError(
                    f"folders={folder}: no such folder; python src/train.py makes runs under outputs"
                )
        check("output", cfg.output, str)
        return cls([Path(str(folder)) for folder in folders], Path(cfg.output))


def main(cfg: DictConfig) -> None:
    """Read the runs, write ``index.html`` and ``report.md``, and print their paths."""
    request = ReportRequest.of(cfg)
    write_report(request.folders, request.output)
