"""Training inside a program of others, such as a notebook, which finds its own state unchanged afterwards."""

import logging
import os
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from sign.training.callbacks import LIGHTNING_LOGGERS


@contextmanager
def isolated() -> Iterator[None]:
    """Restore the environment, random states, filters of warnings, Lightning's loggers and torch's flags at the end."""
    environment = dict(os.environ)
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    levels = {name: logging.getLogger(name).level for name in LIGHTNING_LOGGERS}
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        with warnings.catch_warnings():
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])
        if devices:
            torch.cuda.set_rng_state_all(devices)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.backends.cudnn.benchmark = benchmark
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
