"""Small text files that others may have written, read within limits, and their text made safe to show."""

import stat
import unicodedata
from pathlib import Path

from sign.errors import SignError, reason


def read_text(file: Path, max_bytes: int) -> str:
    """Return the content of a UTF-8 file.

    Raises
    ------
    SignError
        If the file cannot be read, is not a regular file (a pipe would block), has more than ``max_bytes``, contains
        zero bytes, or is not UTF-8.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise SignError(f"{file}: cannot be read (it is not a regular file)")
        with file.open("rb") as stream:
            content = stream.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise SignError(f"{file}: has more than {max_bytes // 2**10:,} kB; is it a file of SIGN?")
        if b"\0" in content:  # what a power failure leaves of a file that was not written yet
            raise SignError(f"{file}: cannot be read (it contains zero bytes)")
        return content.decode()
    except UnicodeDecodeError as error:
        raise SignError(f"{file}: cannot be read (it is not UTF-8 text)") from error
    except OSError as error:
        raise SignError(f"{file}: cannot be read ({reason(error).lower()})") from error


def visible(text: str) -> str:
    r"""Show the codes of characters that would change how the text around them is shown.

    These are control characters, which a terminal obeys, marks that reorder or hide text, line breaks, and surrogates,
    which no file can hold.

    >>> print(visible("a\x1b[31mb\u202ec\nd"))
    a\x1b[31mb\u202ec\nd
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )
