"""Malformed graphs for ``dataset=custom``: each is read rightly or refused with one message."""

import logging
import random
import shutil
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from faults.array_cases import array_cases, sparse_cases
from faults.campaign import Campaign, Try
from faults.file_cases import file_cases, pyg_cases
from faults.graph_case import EXECUTED, Case, Must
from faults.graph_files import LAYOUTS
from faults.graph_reference import read_graph
from faults.processes import forked, message_flaw
from faults.table_cases import cell_cases, label_cases, text_cases

SECONDS = 10.0  # that a graph of twelve nodes may take
MEMORY = 2**30  # bytes that it may take
BYTES = b"0123456789abcxyzXYZ.,;-+ \n\t#\xff\x00"  # that replace others


def run(folder: Path, tries: int, seed: int) -> Iterator[Try]:
    """Read the graphs that are listed, and mutations of good ones up to the number of tries."""
    compile_loops(folder / "layouts")
    draw = random.Random(seed)
    listed = list(cases())
    chosen = listed if tries >= len(listed) else draw.sample(listed, tries)
    chosen = [*chosen, *(mutation(draw.random()) for _ in range(tries - len(chosen)))]
    for number, case in enumerate(chosen):
        place = folder / str(number)
        place.mkdir()
        path = case.write(place)
        verdict = partial(judge, place, path, case.must)
        outcome = forked(verdict, place, timeout=SECONDS, memory=MEMORY)
        if outcome.code is None:
            problem = f"took more than {SECONDS:.0f} s"
        elif outcome.code:
            problem = f"exit code {outcome.code}: {outcome.stderr.strip()[-300:]}"
        else:
            problem = outcome.result["problem"]
        yield Try(case.kind, case.name, problem)
        shutil.rmtree(place)


def compile_loops(folder: Path) -> None:
    """Load the good graphs in this process, so that no try has to wait for the compiler."""
    from sign.datasets.custom.dataset import Custom

    for layout in LAYOUTS:
        place = folder / layout.name
        place.mkdir(parents=True)
        Custom(path=str(layout.write(place)), name="custom").load()


def cases() -> Iterator[Case]:
    """List the graphs that are written by hand."""
    for layout in LAYOUTS:
        yield Case("good graphs", layout.name, layout.write, "load")
    for listed in (text_cases, cell_cases, label_cases, array_cases, sparse_cases, pyg_cases, file_cases):
        yield from listed()


def judge(folder: Path, path: Path, must: Must) -> dict[str, str | None]:
    """Read a graph with SIGN and with the reference; say what is wrong."""
    from sign.datasets.custom.dataset import Custom
    from sign.errors import SignError

    logging.getLogger("sign").setLevel(logging.ERROR)
    graph, message = None, None
    started = time.process_time()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            graph = Custom(path=str(path), name="custom").load()
        except SignError as error:
            message = str(error)
        except BaseException as error:
            return {"problem": f"{type(error).__name__}: {error}"[:300]}
    seconds = time.process_time() - started
    if (folder / EXECUTED).exists():
        return {"problem": "ran code of the file"}
    if warned:
        return {"problem": f"warning: {warned[0].message}"[:300]}
    if graph is None:
        if flaw := message_flaw(message or "", printable=False):  # the command escapes what a file contains
            return {"problem": f"{flaw}: {message!r}"}
        return {"problem": f"refused: {message}" if must == "load" else None}
    if must == "refuse":
        return {"problem": "accepted"}
    try:
        reference = read_graph(path)
    except Exception as error:
        return {"problem": f"accepted, but not valid: {type(error).__name__}: {error}"[:300]}
    return {"problem": reference.difference(graph) or (f"took {seconds:.0f} s" if seconds > SECONDS else None)}


def mutation(seed: float) -> Case:
    """A good graph of which one file is cut, or some bytes or lines are changed."""
    draw = random.Random(seed)
    layout = draw.choice(LAYOUTS)
    change = draw.choice([cut, change_bytes, remove_part, repeat_part, swap_parts])

    def write(folder: Path) -> Path:
        path = layout.write(folder)
        file = draw.choice(sorted(file for file in folder.iterdir()))
        file.write_bytes(change(file.read_bytes(), draw))
        return path

    return Case("mutations", f"{layout.name}, {change.__name__}, seed {seed}", write)


def cut(content: bytes, draw: random.Random) -> bytes:
    """Cut a file short."""
    return content[: draw.randrange(len(content))]


def change_bytes(content: bytes, draw: random.Random) -> bytes:
    """Replace one to three bytes."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        changed[draw.randrange(len(changed))] = draw.choice(BYTES)
    return bytes(changed)


def remove_part(content: bytes, draw: random.Random) -> bytes:
    """Remove a line of text, or what is between two bytes 10."""
    parts = content.split(b"\n")
    del parts[draw.randrange(len(parts))]
    return b"\n".join(parts)


def repeat_part(content: bytes, draw: random.Random) -> bytes:
    """Repeat a line."""
    parts = content.split(b"\n")
    parts.insert(draw.randrange(len(parts)), draw.choice(parts))
    return b"\n".join(parts)


def swap_parts(content: bytes, draw: random.Random) -> bytes:
    """Exchange two parts of text between separators."""
    parts = content.split(b",")
    one, two = draw.randrange(len(parts)), draw.randrange(len(parts))
    parts[one], parts[two] = parts[two], parts[one]
    return b",".join(parts)


GRAPHS = Campaign(
    "graphs",
    "Folders and files for `dataset=custom`: each is read rightly, compared with a second reader, or refused with one "
    "message, within seconds, and no code of a file is run.",
    900,
    run,
)
