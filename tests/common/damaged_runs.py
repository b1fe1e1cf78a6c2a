"""Kinds of damage that a crash, a full disk, another program or an attacker does to a run folder.

Each kind is a function that damages a good run folder, such as one of ``make_run`` or of a training.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Damage = Callable[[Path], None]
NUMBER = int("7" * 400)
GIGABYTE = 2**30
SURROGATE = "graph\ud800"
TRIAL = {"number": 0, "state": "complete", "value": 0.5, "params": {"model.p": 2}}
TRIAL |= {"seconds": 1.0, "reason": None, "device": "cpu", "folder": "trial-0000"}
CLASS_TABLE = "class,support,precision,recall,f1\n"


def damages() -> Iterator[tuple[str, Damage]]:
    """The kinds of damage: a name, and the function that damages a run folder."""
    for file in ("run.json", "metrics.json", "metrics.csv", "config.yaml"):
        yield f"{file} of zeros", _bytes(file, bytes(4096))
        yield f"{file} in another encoding", _bytes(file, "epöch: ü".encode("utf-16"))
        yield f"{file} that is a folder", _folder(file)
        yield f"{file} of a gigabyte", _gigabyte(file)
        yield f"{file} that is a link to itself", _link(file, file)
        yield f"{file} that never ends", _link(file, "/dev/zero")
        yield f"{file} that is a pipe", _pipe(file)
    for file in ("run.json", "metrics.json", "config.yaml"):
        yield f"{file} that is empty", _bytes(file, b"")
        yield f"{file} that is a list", _bytes(file, b"[1, 2]")
    for file in ("run.json", "metrics.json"):
        yield f"{file} cut in half", _half(file)
        yield f"{file} nested 40 levels deep", _bytes(file, b'{"a":' + b"[" * 40 + b"]" * 40 + b"}")
        yield f"{file} nested 100,000 levels deep", _bytes(file, b'{"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}")
        yield f"{file} without its end", _bytes(file, b'{"a":' * 10**5)
    for file in ("run.json", "config.yaml"):
        yield f"{file} that is missing", lambda folder, file=file: (folder / file).unlink()
    yield from _descriptions()
    yield from _metrics()
    yield from _configurations()
    yield from _studies()
    yield from _class_tables()


def _descriptions() -> Iterator[tuple[str, Damage]]:
    hop = {"name": "X", "operator": None, "scope": "full", "rows": 3, "columns": 2, "bytes": 24, "seconds": 0.1}
    hop |= {"products": 0, "found": False}
    entries: dict[str, dict[str, Any]] = {
        "a seed of 400 digits": {"seed": NUMBER},
        "a seed of 400 digits and a fraction": {"seed": "NUMBER"},
        "a seed that is a text": {"seed": "zero"},
        "a data set with a lone surrogate": {"dataset": SURROGATE},
        "a model with a lone surrogate in a key": {"model": {SURROGATE: 1}},
        "a data set that is a number": {"dataset": 5},
        "a data set without a name": {"dataset": ""},
        "a model of a million letters": {"model": "x" * 10**6},
        "an experiment that is an object": {"experiment": {"a": [1]}},
        "a job type that is a list": {"job_type": ["train"]},
        "a start that is a number": {"started": 5},
        "content that is a list": {"content": [[1]]},
        "a number of products that is a text": {"products": "three"},
        "hops that are a text": {"hops": "X"},
        "a hop that is a number": {"hops": [5]},
        "a hop whose size is a text": {"hops": [hop | {"bytes": "x"}]},
        "a hop whose rows have 400 digits": {"hops": [hop | {"rows": NUMBER}]},
        "a hop whose seconds are a list": {"hops": [hop | {"seconds": [1]}]},
        "a hop whose name is an object": {"hops": [hop | {"name": {}}]},
    }
    for name, changes in entries.items():
        yield f"run.json with {name}", _changed("run.json", changes)


def _metrics() -> Iterator[tuple[str, Damage]]:
    header = "epoch,val/loss,val/accuracy\n"
    numbers: dict[str, dict[str, Any]] = {
        "a number of 400 digits": {"test/accuracy": NUMBER},
        "a number of 400 digits and a fraction": {"test/accuracy": "NUMBER"},
        "a score that is a text": {"test/accuracy": "good"},
        "a score that is an object": {"val/accuracy": {}},
        "a key with a lone surrogate": {SURROGATE: 1.0},
    }
    for name, changes in numbers.items():
        yield f"metrics.json with {name}", _changed("metrics.json", changes)
    yield "metrics.json that is missing", lambda folder: (folder / "metrics.json").unlink()
    epochs = {
        "a text among the numbers": header + "0,low,0.5\n",
        "a field of 200,000 characters": header + f"0,0.5,{'9' * 200_000}\n",
        "a number of 400 digits": header + f"0,0.5,{NUMBER}\n",
        "a row that is cut short in the middle": header + "0,0.5\n1,0.4,0.6\n",
        "a row that is too long": header + "0,0.5,0.5,0.5\n1,0.4,0.6\n",
        "100,000 columns": ",".join(f"c{number}" for number in range(10**5)) + "\n",
        "one column twice": "epoch,val/loss,val/loss\n0,0.5,0.6\n",
    }
    for name, text in epochs.items():
        yield f"metrics.csv with {name}", _bytes("metrics.csv", text.encode())


def _configurations() -> Iterator[tuple[str, Damage]]:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
    )
    configurations = {
        "an alias bomb": bomb,
        "a merged alias bomb": bomb.replace("[", "{<<: [").replace("]", "]}"),
        "a value that contains itself": "model: &m\n  self: *m\n",
        "100,000 levels": "a: " + "[" * 10**5,
        "40 levels": "a: " + "[" * 40 + "]" * 40,
        "a number of 400 digits": f"seed: {NUMBER}\n",
        "a number of 5,000 digits": f"seed: {'7' * 5000}\n",
        "a lone surrogate": 'dataset: {name: "a\\uD800"}\n',
        "a Python object": "model: !!python/object/apply:os.getpid []\n",
        "a tab as indentation": "model:\n\tp: 2\n",
        "two documents": "a: 1\n---\nb: 2\n",
    }
    for name, text in configurations.items():
        yield f"config.yaml with {name}", _bytes("config.yaml", text.encode())


def _studies() -> Iterator[tuple[str, Damage]]:
    study = {"study": "s", "metric": "val/loss", "importances": {"model.p": 1.0}, "trials": [TRIAL]}
    studies: dict[str, dict[str, Any]] = {
        "trials that are a number": study | {"trials": 3},
        "a trial that is a text": study | {"trials": ["x"]},
        "a trial without a state": study | {"trials": [{"number": 0}]},
        "a value of 400 digits": study | {"trials": [TRIAL | {"value": NUMBER}]},
        "a value that is a text": study | {"trials": [TRIAL | {"value": "low"}]},
        "parameters that are a list": study | {"trials": [TRIAL | {"params": [1]}]},
        "importances that are texts": study | {"importances": {"model.p": "much"}},
        "a name that is a list": study | {"study": ["s"]},
        "a name with a lone surrogate": study | {"study": SURROGATE},
    }
    for name, content in studies.items():
        yield f"study.json with {name}", _bytes("study.json", json.dumps(content).encode())
    yield "study.json that is empty", _bytes("study.json", b"")


def _class_tables() -> Iterator[tuple[str, Damage]]:
    tables = {
        "per_class.csv without a column": "class,support\ncat,3\n",
        "per_class.csv with a text among the numbers": CLASS_TABLE + "cat,many,1,1,1\n",
        "per_class.csv with a number of 400 digits": CLASS_TABLE + f"cat,{NUMBER},1,1,1\n",
        "per_class.csv with a long field": CLASS_TABLE + f"{'x' * 200_000},1,1,1,1\n",
        "confusion.csv that is not square": "true,cat,dog\ncat,1,2\n",
        "confusion.csv with other classes in its rows": "true,cat,dog\ncat,1,2\nbird,1,2\n",
        "confusion.csv with a negative number": "true,cat\ncat,-1\n",
        "confusion.csv with a text among the numbers": "true,cat\ncat,many\n",
        "confusion.csv that is empty": "",
    }
    for name, text in tables.items():
        yield name, _bytes(name.split()[0], text.encode())


def _bytes(file: str, content: bytes) -> Damage:
    return lambda folder: _write(folder / file, content)


def _write(file: Path, content: bytes) -> None:
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _changed(file: str, changes: dict[str, Any]) -> Damage:
    """Change entries of a JSON file; the text NUMBER stands for a number of 400 digits with a fraction."""

    def damage(folder: Path) -> None:
        content = json.loads((folder / file).read_text()) | changes
        text = json.dumps(content).replace('"NUMBER"', f"{NUMBER}.5")
        _write(folder / file, text.encode())

    return damage


def _half(file: str) -> Damage:
    return lambda folder: os.truncate(folder / file, (folder / file).stat().st_size // 2)


def _gigabyte(file: str) -> Damage:
    """A file with holes: it takes no room on the disk."""
    return lambda folder: os.truncate(folder / file, GIGABYTE)


def _folder(file: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / file).unlink()
        (folder / file).mkdir()

    return damage


def _link(file: str, target: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / file).unlink()
        (folder / file).symlink_to(target)

    return damage


def _pipe(file: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / file).unlink()
        os.mkfifo(folder / file)

    return damage


def damaged_copy(run: Path, folder: Path, damage: Damage) -> Path:
    """Copy a good run to ``folder`` and damage the copy."""
    shutil.copytree(run, folder)
    damage(folder)
    return folder
