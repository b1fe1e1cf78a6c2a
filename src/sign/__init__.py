"""SIGN: Scalable Inception Graph Neural Networks. Graph operators are applied once; an MLP is trained on rows.

::

    raw files ──datasets──▶ Graph ──operators──▶ linear map B
                              └──engines: X_k = B · X_{k-1}──▶ store ──training──▶ batches ──models──▶ logits
                                                                                         metrics ▶ run folder ▶ report

Packages in import order; each imports only those above it:

=============== =========================================================================================
errors          errors that a user can fix
validation      settings that check themselves against their annotations
system          the machine: console, memory, arrays within a budget, locks, atomic files, hashes, numba
graph           what a graph is: CSR matrices, features, labels and splits, scopes
datasets        raw files ▶ Graph
operators       Graph ▶ linear map B
engines         products B · X: local, torch, Spark
store           hop arrays on disk
diffusion       missing hops ▶ store
runs            run folders and what is in them
published       the numbers of the paper
tracking        Weights & Biases
models          networks on rows, in plain torch
training        rows ▶ network ▶ metrics
smoothing       predictions and labels propagated over the graph after training: Correct and Smooth
baselines       the systems that the paper compares with: samplers, networks, exact evaluation
config          overrides ▶ checked settings
prediction      checkpoint ▶ predictions, embeddings, metrics, exported models
experiments     settings ▶ run folder
report          run folders ▶ HTML and Markdown
transforms      SIGN as a transform of PyG
testing         small graphs for tests and doctests
estimator       SIGN in the style of scikit-learn, for programs and notebooks
search          hyperparameter search
reproduction    tables and figures of the paper
commands        one file per command
cli             what all commands share: parsing, logging, exit codes
=============== =========================================================================================

Importing ``sign`` is cheap: torch, numba and scipy are imported by the modules that use them, and the names below by
their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sign.config.in_memory import load_dataset
    from sign.errors import SignError
    from sign.estimator import SIGNClassifier
    from sign.experiments.diffuse import diffuse
    from sign.graph.graph import Graph

__version__ = "0.1.0"
__all__ = ["Graph", "SIGNClassifier", "SignError", "diffuse", "load_dataset"]
_MODULES = {
    "Graph": "sign.graph.graph",
    "SIGNClassifier": "sign.estimator",
    "SignError": "sign.errors",
    "diffuse": "sign.experiments.diffuse",
    "load_dataset": "sign.config.in_memory",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
