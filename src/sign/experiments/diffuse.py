"""The hops of a graph that a program has built."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sign.config.in_memory import check_graph, composed, configured
from sign.diffusion.precompute import diffuse as store_hops
from sign.graph.classification import NodeClassification, full_scope
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph

ALL = "all"  # the name of all nodes, as a split


def diffuse(
    graph: Graph,
    *,
    p: int = 0,
    s: int = 0,
    t: int = 0,
    d: int = 0,
    f: int = 0,
    feature_scaling: str = "none",
    store: str | Path | None = None,
    memory: str | None = None,
) -> dict[str, Array]:
    """Apply the powers of SIGN's operators to the features of all nodes.

    Parameters
    ----------
    graph
        The graph, with its features.
    p, s, t, d, f
        The highest power of the normalised adjacency, of personalised PageRank, of the triangle-induced adjacency, of
        the directed adjacency and of its transpose.
    feature_scaling
        ``none``, ``row_sum`` or ``standardize`` (by the training nodes), before diffusion.
    store
        A folder that keeps the hops: those that it has are not computed again, and the arrays are mapped from its
        files, read-only, apart from those that the store keeps sparse. None: the arrays are in memory.
    memory
        The limit while hops are computed, such as ``4GB``.

    Returns
    -------
    dict
        An array, nodes × features, by the name of each hop: ``X``, ``p1``, ``p2``, …, ``s1``, …

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], np.eye(4))
    >>> hops = diffuse(graph, p=2, s=1)
    >>> list(hops), hops["p1"].shape
    (['X', 'p1', 'p2', 's1'], (4, 4))
    >>> hops["p1"][0].round(2)
    array([0.5 , 0.41, 0.  , 0.  ], dtype=float32)
    """
    check_graph(graph)
    powers = {"model.p": p, "model.s": s, "model.t": t, "model.d": d, "model.f": f}
    cfg = composed(powers | {"scaling.features": feature_scaling, "engine.memory": memory})
    with TemporaryDirectory(prefix="sign-", ignore_cleanup_errors=True) as scratch:
        settings = configured(cfg, Path(scratch), store)
        nodes = np.arange(graph.nodes)
        with settings.engine.limits(Path(settings.store.root)):
            scaling = FeatureScaling.fit(settings.scaling.features, graph)
        scope = full_scope(graph, scaling, {ALL: nodes})
        classification = NodeClassification(graph.name, "", graph.classes, graph.multilabel, {}, [scope], scaling)
        hops = store_hops(classification, settings.powers, settings.engine, settings.store)
        arrays = {
            name: array[:] if isinstance(array, SparseFeatures) else array
            for name, array in zip(hops.names, hops.arrays[ALL], strict=True)
        }
        return arrays if store is not None else {name: np.array(array) for name, array in arrays.items()}
