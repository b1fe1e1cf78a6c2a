"""Laplacian positions: eigenvectors of the normalised Laplacian, stored as a hop beside those of the features."""

import logging
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.system import memory
from sign.validation import Range

LETTER = "e"  # of positions in the names of hops
MAX_RESTARTS = 1000  # of the eigensolver
TOLERANCE = 1e-6  # of eigenvalues
DEFLATION = 3.0  # moves the trivial eigenvalues, 1 of the normalised adjacency, below all others, which are >= -1
TIE = 1e-4  # entries that differ by less count as equally large
log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class LaplacianPositions(Operator):
    r"""The ``count`` eigenvectors of :math:`L = I - D^{-1/2} W D^{-1/2}` with the smallest positive eigenvalues.

    A row is the position of a node: nodes that are well connected have similar ones. W is the symmetric adjacency. The
    eigenvalue 0, whose eigenvectors tell components apart, is left out, and nodes without edges have zeros. Columns are
    scaled to a mean square of one; their sign makes the entry of largest magnitude positive, the first of equal ones.
    Vectors of an eigenvalue that occurs several times are some basis of its space, the same one for the same graph.
    """

    name = "positions"
    count: Annotated[int, Range(1, 1000)]

    def matrix(self, graph: Graph) -> Matrix:
        """Return the normalised adjacency, which has the same eigenvectors."""
        scale = inverse_power(graph.undirected.row_sums, 0.5)
        return Matrix(graph.undirected, left=scale, right=scale)

    @property
    def products(self) -> int:
        """None of the engine: the eigensolver multiplies in double precision."""
        return 0

    def describe(self) -> dict[str, Any]:
        """Return the number of columns; the graph is a part of the key of every hop."""
        return {"name": self.name, **asdict(self)}

    def of(self, graph: Graph) -> Floats:
        """Compute the positions of all nodes.

        Raises
        ------
        SignError
            If the graph is too small, the memory too little, or the solver does not converge.
        """
        from scipy.sparse.csgraph import connected_components
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        basis = max(2 * self.count + 1, 20)
        self._check_memory(graph, basis)
        degrees, adjacency = graph.undirected.row_sums, graph.undirected.to_scipy().astype(np.float64)
        components, component = connected_components(adjacency, directed=False)
        if self.count > (most := graph.nodes - components):
            raise SignError(
                f"model.positions={self.count}: {graph.name} has {graph.nodes} nodes in {components} components, which "
                f"have at most {most} positions; lower model.positions"
            )
        scale = np.where(degrees > 0, np.maximum(degrees, np.finfo(np.float64).tiny) ** -0.5, 0.0)
        trivial = _trivial_vectors(degrees, component)

        def deflated(x: Doubles) -> Doubles:
            x = x.ravel()
            shares = np.bincount(component, trivial * x, components)
            result: Doubles = scale * (adjacency @ (scale * x)) - DEFLATION * trivial * shares[component]
            return result

        log.info("%s: computing %d Laplacian positions of %s nodes", graph.name, self.count, f"{graph.nodes:,}")
        operator = LinearOperator((graph.nodes, graph.nodes), matvec=deflated, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(graph.nodes)
        size = min(basis, graph.nodes)
        try:
            values, vectors = eigsh(
                operator, self.count, which="LA", v0=start, ncv=size, maxiter=MAX_RESTARTS, tol=TOLERANCE
            )
        except ArpackNoConvergence as error:
            raise SignError(
                f"model.positions={self.count}: the eigenvectors of {graph.name} did not converge in {MAX_RESTARTS:,} "
                "restarts; lower model.positions"
            ) from error
        vectors = vectors[:, np.argsort(-values)]
        scaled: Floats = (vectors * _signs(vectors) * np.sqrt(graph.nodes)).astype(np.float32)
        return scaled

    def _check_memory(self, graph: Graph, basis: int) -> None:
        """Raise if the eigensolver's vectors and its copy of the adjacency do not fit into the budget."""
        needed = 8 * graph.nodes * (basis + self.count + 6) + 20 * graph.undirected.entries
        if needed > (free := memory.remaining()):
            raise SignError(
                f"model.positions={self.count}: the eigensolver needs {memory.format_size(needed)} for {graph.name}, "
                f"of which {memory.format_size(max(free, 0))} are free; raise engine.memory, or lower model.positions"
            )


def _trivial_vectors(degrees: Doubles, component: Array) -> Doubles:
    """Return the eigenvectors for the eigenvalue 0, one per component, in one array."""
    squares = np.where(degrees > 0, degrees, 1.0)  # a node without edges is a component
    root: Doubles = np.sqrt(squares / np.bincount(component, squares)[component])
    return root


def _signs(vectors: Doubles) -> Doubles:
    """Return the sign of the entry of largest magnitude of each column."""
    sizes = np.abs(vectors)
    first = (sizes >= (1 - TIE) * sizes.max(axis=0)).argmax(axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
