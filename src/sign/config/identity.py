"""Which settings change the numbers of a run: the one definition.

Resuming, series, groups of a report, studies and exports all ask here. Settings are named by dotted keys; in
``CHANGES_NUMBERS`` the longest key that a name starts with decides.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

CHANGES_NUMBERS = {
    "seed": True,
    "dataset": True,
    "dataset.data_dir": False,  # where downloaded files lie
    "dataset.path": False,  # where the user's own files lie; their content counts instead, see `identity`
    "model": True,
    "training": True,
    "training.rows": False,  # the same batches, wherever their rows are held
    "scaling": True,
    "smoothing": True,
    "store": False,  # which rows are stored, and whether they are verified, does not matter
    "store.dtype": True,
    "trainer": False,  # one device or many, compiled or not: the same sums in another order
    "trainer.precision": True,
    "trainer.limit_batches": True,
    "trainer.overfit_batches": True,
    "engine": False,  # engines agree up to rounding; a stored hop is used whichever computed it
    "logger": False,
    "paths": False,
    "runs": False,
    "job_type": False,
    "group": False,
    "trial": False,
    "experiment": False,  # a name; the settings that it stands for count themselves
    "ckpt_path": False,
}
EXTENDABLE = ("training.max_epochs", "training.patience")  # change the numbers, but a resumed run may train longer
SEEDS = ("seed", "dataset.split_seed")  # tell the runs of one series apart
CONTENT = "dataset.content"  # stands for the user's own files in an identity


def changes_numbers(name: str) -> bool:
    """Whether a setting changes the numbers of a run; unknown ones do.

    >>> changes_numbers("model.operators.p.self_loops"), changes_numbers("store.rows"), changes_numbers("store.dtype")
    (True, False, True)
    """
    while name not in CHANGES_NUMBERS and "." in name:
        name = name.rpartition(".")[0]
    return CHANGES_NUMBERS.get(name, True)


def identity(config: Mapping[str, Any], content: str | None = None) -> dict[str, Any]:
    """Return the settings that change the numbers of a run, by dotted names.

    Parameters
    ----------
    config
        The resolved configuration, nested or by dotted names.
    content
        Digest of the user's own files (:meth:`sign.datasets.base.Dataset.content_digest`). Without one, their
        path stands for them.

    >>> identity({"seed": 0, "model": {"p": 2}, "store": {"rows": "used", "dtype": "float32"}})
    {'seed': 0, 'model.p': 2, 'store.dtype': 'float32'}
    """
    flat = flatten(config)
    counted = {name: value for name, value in flat.items() if changes_numbers(name)}
    if files := content or flat.get("dataset.path"):
        counted.setdefault(CONTENT, files)
    return counted


def fingerprint(config: Mapping[str, Any], content: str | None = None) -> str:
    """Return a short hash of :func:`identity`, which names the folder of a series."""
    canonical = json.dumps(identity(config, content), sort_keys=True)
    return hashlib.blake2b(canonical.encode(), digest_size=6).hexdigest()


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted names.

    >>> flatten({"model": {"p": 2}, "seed": 0})
    {'model.p': 2, 'seed': 0}
    """
    flat: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
