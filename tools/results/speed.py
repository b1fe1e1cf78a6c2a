"""The figure of the times of SIGN and of sampled training on Debian, from the results of ``table=timing``."""

from results.bars import Panel, picture
from results.data import Results

DATASET = "Debian, "
PANELS = {
    "Preprocessing": "seconds, once for all runs",
    "Epoch": "seconds, every training node once",
    "Inference": "seconds, nodes of all splits",
}


def figure(results: Results) -> str:
    """Return the figure; systems without results are left out."""
    rows = [row for row in results.rows(tuple(PANELS)) if row.startswith(DATASET)]
    panels = []
    for column, note in PANELS.items():
        cells = {row.removeprefix(DATASET): results.cells.get((row, column)) for row in rows}
        panels.append(Panel(column, note, {row: cell and cell.mean for row, cell in cells.items()}))
    return picture("Seconds of preprocessing, of an epoch and of inference on Debian", panels, "SIGN")
