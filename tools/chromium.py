"""Headless Chromium: find it and take screenshots. Nothing is loaded from the network."""

import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
)


def program() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def open_page(url: str, image: Path, size: tuple[int, int], *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in a window of ``size`` with a fresh profile, and save what it shows as a PNG file.

    Raises :class:`FileNotFoundError` without Chromium, and :class:`subprocess.CalledProcessError` if it fails.
    """
    if (chromium := program()) is None:
        raise FileNotFoundError(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        window = [f"--user-data-dir={profile}", "--window-size={},{}".format(*size), f"--screenshot={image}"]
        command = [chromium, *QUIET, *window, *options, url]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
