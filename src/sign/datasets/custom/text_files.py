"""Text tables: their encoding, their separator and the cells of their first line."""

import codecs
import csv
import gzip
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from sign.errors import SignError

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
BLOCK = 1 << 24  # bytes of text that are parsed at a time; a line must not be longer
WIDE = {  # byte order marks, longest first
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
log = logging.getLogger(__name__)


def first_line(file: Path, is_row: Callable[[set[str]], bool], spaces: bool = False) -> tuple[list[str], str]:
    """Return the cells of the first line and the separator.

    That is a comma, or a tab in .tsv files. If the line does not contain it, another separator is taken, provided
    that only one gives cells for which, in lower case, ``is_row`` is true. With ``spaces``, a single space is taken if
    there is none of these.
    """
    with _open(file) as stream:
        line = stream.readline(BLOCK).decode("utf-8-sig")
    if "\0" in line:
        raise ValueError("it contains NUL characters")
    usual = "\t" if file.name.endswith((".tsv", ".tsv.gz")) else ","
    rows = {separator: _cells(line, separator) for separator in SEPARATORS}
    others = [
        separator
        for separator, cells in rows.items()
        if len(rows[usual]) == 1 and len(cells) > 1 and is_row({cell.lower() for cell in cells})
    ]
    if spaces and not others and len(rows[usual]) == 1 and len(cells := _cells(line, " ")) > 1 and all(cells):
        log.info("%s: columns are separated by spaces", file)
        return cells, " "
    if len(others) > 1:
        names = " or ".join(SEPARATORS[separator] for separator in others)
        raise SignError(f"{file}: its columns could be separated by {names}; write it with {SEPARATORS[usual]}")
    if others:
        log.info("%s: columns are separated by %s", file, SEPARATORS[others[0]])
    separator = others[0] if others else usual
    return rows[separator], separator


def read_text(file: Path, names: list[str], separator: str, header: bool) -> Any:
    """Read all columns as text: what looks like a number may be an id, such as 007."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    return arrow.read_csv(
        str(file),
        arrow.ReadOptions(column_names=names, skip_rows=int(header), block_size=BLOCK),
        # In a file of one column an empty line is a row with an empty cell.
        arrow.ParseOptions(delimiter=separator, ignore_empty_lines=len(names) > 1),
        arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


@contextmanager
def encoding_errors(file: Path) -> Iterator[None]:
    """Convert an error about a file that is not UTF-8 to one that names its encoding."""
    try:
        yield
    except SignError:
        raise
    except Exception as error:
        encoding = _other_encoding(file)
        if encoding is None:
            raise
        convert = f"iconv -f {encoding} -t UTF-8"
        raise SignError(
            f"{file}: is not UTF-8, but probably {encoding}; convert it, for example with {convert}"
        ) from error


def _other_encoding(file: Path) -> str | None:
    """Return the probable encoding of a file that is not UTF-8; None if it is, or cannot be read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _open(file) as stream:
            content = stream.read(BLOCK)
            for mark, name in WIDE.items():
                if content.startswith(mark):
                    return name
            if b"\0" in content[:4096]:
                return "UTF-16"
            while content:
                decoder.decode(content)
                content = stream.read(BLOCK)
    except UnicodeDecodeError:
        return "Latin-1"
    except (OSError, EOFError):
        return None
    return None


def _open(file: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if file.suffix == ".gz" else file.open("rb")


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for row in csv.reader([line], delimiter=separator) for cell in row]
