"""The contract of an operator: a frozen description of a linear map B, and how B x is computed by products."""

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.validation import Validated


class Product(Protocol):
    """An engine's product."""

    def __call__(self, matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
        """Multiply a matrix by node features.

        Parameters
        ----------
        matrix, x
            The factors; ``x`` has one row per node.
        out
            An array that may be overwritten with the result.

        Returns
        -------
        numpy.ndarray
            ``matrix @ x`` as float32.
        """


@dataclass(frozen=True)
class Polynomial:
    """A sum of Chebyshev polynomials of a matrix.

    Parameters
    ----------
    terms
        The coefficients.
    normalized
        Divide each row of the result by the same sum applied to a column of ones.
    """

    terms: tuple[float, ...]
    normalized: bool = False


ONE_PRODUCT = Polynomial((0.0, 1.0))


@dataclass(frozen=True)
class ScaledEdges:
    r"""The matrix :math:`D^{-l} (W + \lambda I) D^{-r}`, where D are the row sums of :math:`W + \lambda I`.

    A row whose sum is zero is a row of zeros.

    Parameters
    ----------
    edges
        W: the ``undirected`` adjacency, or without self-loops the edges ``out`` of each node, those ``in``, or the
        undirected ones times the number of ``triangles`` that contain them.
    left, right, self_loop
        The exponents l and r, and the weight λ.
    """

    edges: Literal["undirected", "out", "in", "triangles"]
    left: float = 0.0
    right: float = 0.0
    self_loop: float = 0.0

    def matrix(self, csr: CSR) -> Matrix:
        """Return the matrix for the edges W."""
        degrees = csr.row_sums + self.self_loop
        factors = {power: inverse_power(degrees, power) if power else None for power in (self.left, self.right)}
        return Matrix(csr, factors[self.left], factors[self.right], self.self_loop)


SYMMETRIC = ScaledEdges("undirected", left=0.5, right=0.5)
WITH_LOOPS = ScaledEdges("undirected", left=0.5, right=0.5, self_loop=1.0)


class Motif(NamedTuple):
    """A subgraph that is counted per edge; a clique of three nodes is the triangle."""

    kind: Literal["clique", "cycle"]
    size: int


MotifCounter: TypeAlias = Callable[[Motif, CSR], Array]
"""Return, for each entry of a symmetric matrix without self-loops, the motifs that contain the edge."""


EDGE_DATA = ("edge_features", "edge_times")  # fields of a graph that only some operators read


@dataclass(frozen=True)
class Operator(Validated, ABC):
    """A linear map B. It holds no data: its fields are its equality, its repr and its part of the fingerprint.

    ``name`` identifies the class in the keys of stored hops; renaming or moving the class does not change it.
    A class that does not set it is known by its class name.
    """

    name: ClassVar[str]
    recurrent: ClassVar[bool] = False
    """Whether hop k needs the two hops before it: polynomials of a recurrence, which override :meth:`step`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def matrix(self, graph: Graph) -> Matrix:
        """Build the sparse matrix that products multiply by.

        Parameters
        ----------
        graph
            The graph; the operator reads its edges only.

        Returns
        -------
        Matrix
            An adjacency with its scaling factors.
        """

    def matrix_by(self, graph: Graph, count: MotifCounter) -> Matrix:
        """Return the same matrix, with motifs counted by ``count``; operators that count motifs override this."""
        return self.matrix(graph)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The matrix as edges scaled by their sums, which a graph on a cluster needs; None if it is not that."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """Those of :data:`EDGE_DATA` that the matrix depends on."""
        return ()

    @property
    def learns(self) -> bool:
        """Whether the matrix has parameters that are learned on the training nodes before it is computed."""
        return False

    def learn(self, training: Origin) -> Floats:
        """Return the parameters as rows of numbers; operators that learn override this.

        ``training`` has labels and splits of training nodes alone, and of an inductive data set no other nodes. Equal
        settings and data give equal parameters, up to rounding: they are stored under a digest of both.
        """
        raise NotImplementedError

    def learned_matrix(self, origin: Origin, parameters: Floats) -> Matrix:
        """Return the matrix for a graph and the scaling of its features; operators that learn override this."""
        raise NotImplementedError

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Compute B x. Operators that are not one product override this.

        Parameters
        ----------
        matrix
            The result of :meth:`matrix`.
        x
            Node features, one row per node.
        product
            The product of an engine.

        Returns
        -------
        numpy.ndarray
            B x as float32.
        """
        return product(matrix, x)

    def step(self, matrix: Matrix, power: int, x: Floats, before: Floats | None, product: Product) -> Floats:
        """Return hop ``power`` from the hop before it, ``x``; of ``recurrent`` operators also from the one before that.

        ``before`` is None for the first power. ``x`` and ``before`` must not be changed.
        """
        return self.apply(matrix, x, product)

    @property
    def products(self) -> int:
        """The number of products per power."""
        return 1

    @property
    def is_one_product(self) -> bool:
        """Whether B is the matrix itself, so that a row of B x needs only the rows that its entries name."""
        return type(self).apply is Operator.apply and not self.recurrent

    @property
    def polynomial(self) -> Polynomial | None:
        """B as a polynomial of its matrix, for engines that never hold all rows; None if it is unknown."""
        return ONE_PRODUCT if self.is_one_product else None

    @property
    def buffers(self) -> int:
        """The number of arrays as large as x that computing B x holds at once, x included."""
        return 2 if self.is_one_product else 6

    def resolve(self, inductive: bool) -> Self:
        """Set every field that depends on the protocol.

        Parameters
        ----------
        inductive
            Whether the data set is inductive.

        Returns
        -------
        Operator
            The operator itself if nothing depends on it.
        """
        return self

    def describe(self) -> dict[str, Any]:
        """Return the operator's part of a fingerprint; for classes outside ``sign`` it includes their source."""
        description = {"name": self.name, **asdict(self)}
        foreign = [kind for kind in type(self).__mro__ if not kind.__module__.startswith(("sign.", "builtins", "abc"))]
        if foreign:
            source = "".join(f"{kind.__qualname__}\n{_source(kind)}" for kind in foreign)
            description["source"] = hashlib.blake2b(source.encode(), digest_size=8).hexdigest()
        return description


def _source(kind: type) -> str:
    """Return the text of the file that defines a class; modules that the file imports are not included."""
    try:
        return inspect.getsource(inspect.getmodule(kind) or kind)
    except (OSError, TypeError) as error:
        raise SignError(
            f"{kind.__name__}: its source cannot be read, and stored hops depend on it; put the class in a file"
        ) from error


def inverse_power(degrees: Array, power: float) -> Floats:
    """Return ``degrees ** -power``, zero where the degree is zero."""
    with np.errstate(divide="ignore"):
        return np.where(degrees > 0, degrees**-power, 0.0).astype(np.float32)
