"""Our numbers beside the published ones."""

from pathlib import Path

from rich.console import Console

from sign.published import published_tables
from sign.reproduction.paper_tables import ExperimentResult, ReproducedTable
from sign.runs import Series
from sign.system.atomic_files import write_json


def test_table_shows_ours_the_published_number_and_the_difference(tmp_path: Path) -> None:
    metrics = {f"{split}/accuracy": {"mean": 0.775, "std": 0.002} for split in ("train", "val", "test")}
    write_json(tmp_path / "series.json", {"seeds": [0, 1], "metrics": metrics})
    table = ReproducedTable(published_tables()["products"])
    table.results["products_sign_530"] = ExperimentResult(Series(tmp_path))
    (test,) = [cell for cell in table.table.row("SIGN(5,3,0)") if cell.column == "Test"]
    assert table.texts(test) == ("77.50 ± 0.20", "77.60 ± 0.13", "-0.10")
    assert "77.50 ± 0.20 (77.60 ± 0.13, -0.10)" in table.markdown()
    assert "of 2 runs" in table.markdown()
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table.rich_table())
    assert "77.50 ± 0.20" in captured.get()


def test_tracker_table_has_one_row_per_cell() -> None:
    table = ReproducedTable(published_tables()["inductive"])
    tracked = table.tracker_table()
    rows = {(row[0], row[1]): dict(zip(tracked.columns, row, strict=True)) for row in tracked.rows}
    assert len(rows) == len(table.table.cells)
    assert rows["GraphSAINT", "PPI"]["published"] == 0.981
    assert rows["SIGN", "Flickr"]["ours"] is None
