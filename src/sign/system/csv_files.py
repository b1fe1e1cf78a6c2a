"""Tables in CSV files that others may have written, such as those of a run folder, read within limits."""

import csv
import io
from pathlib import Path

from sign.errors import SignError
from sign.system.json_files import MAX_NUMBER
from sign.system.text_files import read_text

MAX_BYTES = 2**25
MAX_COLUMNS = 10_000
MAX_FIELDS = 2**20  # 50,000 epochs of 20 metrics


def read_csv(file: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table.

    A last row that a crash cut short, which has no line end, is left out.

    Raises
    ------
    SignError
        If the file cannot be read, has too many fields or repeated columns, or a row of another length.
    """
    text = read_text(file, MAX_BYTES)
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
    try:
        lines = csv.reader(io.StringIO(text, newline=""))
        header = next(lines, [])
        if len(header) > MAX_COLUMNS:
            raise SignError(f"{file}: has more than {MAX_COLUMNS:,} columns; is it a file of SIGN?")
        if len(set(header)) < len(header):
            raise SignError(f"{file}: has two columns of the same name")
        rows = []
        for number, row in enumerate(lines, start=2):
            if len(row) != len(header):
                raise SignError(f"{file}: row {number} has {len(row):,} fields instead of {len(header)}")
            if number * len(header) > MAX_FIELDS:
                raise SignError(f"{file}: has more than {MAX_FIELDS:,} fields; is it a file of SIGN?")
            rows.append(row)
    except csv.Error as error:  # such as a field of more than 131,072 characters
        raise SignError(f"{file}: cannot be read as a table ({error})") from error
    return header, rows


def numbers(file: Path, row: list[str]) -> list[float]:
    """Return fields as numbers; raises :class:`SignError` if one is none, or too large."""
    values = []
    for text in row:
        try:
            value = float(text)
        except ValueError as error:
            raise SignError(f"{file}: contains a value that is not a number ({text[:40]!a})") from error
        if abs(value) > MAX_NUMBER and any(map(str.isdigit, text)):  # unlike "inf", which a diverged loss is
            raise SignError(f"{file}: contains a number beyond {MAX_NUMBER:g}")
        values.append(value)
    return values
