"""The graph of a scope as a baseline reads it: its matrix, features and labels, and one product with them."""

import math
import time
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from sign.baselines.base import Baseline
from sign.baselines.evaluation import product_by_columns
from sign.engines.base import Engine
from sign.errors import SignError
from sign.graph.classification import Scope
from sign.graph.csr import CSR, Array
from sign.graph.features import MAX_DENSITY
from sign.models.networks.sparse import Inputs, SparseMatrix, SparseRows
from sign.system import arrays


class GraphData:
    """Matrix, features and labels of a scope.

    ``features`` are the scaled features of all nodes, sparse if few of them are not zero, and ``inputs`` is what the
    network reads, which is the same unless a baseline adds to it. ``first_product`` is the matrix times the inputs, if
    the baseline wants it; ``seconds`` is what it took.
    """

    def __init__(self, scope: Scope, baseline: Baseline, engine: Engine, multilabel: bool) -> None:
        if scope.origin is None:
            raise SignError(
                f"model={baseline.name}: is trained on the graph itself, which exported hops do not have; "
                "use model=sign, or the data set that they were exported from"
            )
        graph = scope.origin.graph
        if not graph.edges:
            whole = "the graph" if scope.name == "full" else "the graph of its training nodes"
            raise SignError(f"{graph.name}: {whole} has no edges; {baseline.name} needs them, use model=mlp")
        self.scope, self.graph, self.nodes = scope, graph, graph.nodes
        self.matrix = baseline.operator.resolve(graph.inductive).matrix(graph)
        self.features = _scaled(scope)
        self.inputs = self.features
        self.first_product: Inputs | None = None
        started = time.perf_counter()
        if baseline.first_product:
            self.first_product = self._product(engine)
        self.seconds = time.perf_counter() - started
        self._multilabel = multilabel

    @property
    def targets(self) -> Array:
        """The training nodes."""
        return self.scope.rows["train"]

    @cached_property
    def labels(self) -> Tensor:
        """The labels of all nodes; those of nodes that are not in the training split are not read."""
        return torch.from_numpy(np.asarray(self.graph.labels).astype(np.float32 if self._multilabel else np.int64))

    def _product(self, engine: Engine) -> Inputs:
        if isinstance(self.features, SparseRows):
            return self.sparse_product
        return torch.from_numpy(product_by_columns(engine, self.matrix, self.features.numpy()))

    @cached_property
    def sparse_product(self) -> Inputs:
        """The matrix times sparse features, which is sparse unless many values are not zero."""
        assert isinstance(self.features, SparseRows)
        matrix = self.adjacency
        product = self.features.multiplied_by(SparseMatrix(matrix.indptr, matrix.indices, matrix.weights, matrix.nodes))
        return product if product.csr.entries <= MAX_DENSITY * math.prod(product.shape) else product.to_dense()

    @cached_property
    def adjacency(self) -> CSR:
        """The matrix with its factors multiplied out, for samplers."""
        return CSR.from_scipy(self.matrix.to_scipy())


def _scaled(scope: Scope) -> Inputs:
    """Return the scaled features of all nodes, block by block."""
    assert scope.origin is not None
    if (sparse := scope.origin.sparse_features) is not None:
        return SparseRows(sparse.indptr, sparse.indices, sparse.values, sparse.columns)
    features, scaling = scope.origin.graph.features, scope.origin.scaling
    scaled = arrays.empty(features.shape, np.float32)
    for part, rows in arrays.gather(features, None):
        scaled[part] = scaling.apply(rows)
    return torch.from_numpy(scaled)
