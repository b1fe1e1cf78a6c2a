"""Sparse matrices as plain arrays: rows of an adjacency, and the scaled matrix an engine multiplies."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.errors import SignError

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
WEIGHTS = (1e-12, 1e12)  # the range of edge weights: their products and inverses stay within float32


def digest(*arrays: Array | None) -> str:
    """A fingerprint of the contents, shapes and types of arrays."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(repr(None if array is None else (array.dtype.str, array.shape)).encode())
        if array is not None and array.size:
            state.update(np.ascontiguousarray(array).view(np.uint8).data)
    return state.hexdigest()


def index_type(largest: int) -> type[np.int32] | type[np.int64]:
    """int32 where it can count to ``largest``, else int64."""
    return np.int32 if largest < 2**31 else np.int64


def check_weights(weights: Array, edges: int) -> None:
    """Refuse weights that are not positive, or that products in float32 could not hold."""
    if weights.shape != (edges,):
        raise SignError(f"weights of shape {weights.shape} for {edges} edges")
    low, high = WEIGHTS
    right = (weights >= low) & (weights <= high)
    if not right.all():
        raise SignError(
            f"an edge has weight {weights[~right][0]}; weights must be positive and finite, from {low:g} to {high:g}"
        )


def _scatter(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each number as 64 random-looking bits that depend on it alone (the finaliser of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class CSR:
    """Compressed sparse rows of a square matrix; ``weights=None`` stands for ones.

    Columns are sorted and unique within a row, so equal matrices have equal arrays and digests.
    """

    indptr: NDArray[np.int64]
    indices: Array
    weights: Floats | None = None

    @property
    def nodes(self) -> int:
        """Number of rows, and of columns."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """Number of stored entries."""
        return len(self.indices)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the matrix."""
        return digest(self.indptr, self.indices, self.weights)

    @cached_property
    def row_sums(self) -> NDArray[np.float64]:
        """The weighted degree of every row, summed in double precision."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        sums = np.zeros(self.nodes)
        filled = np.diff(self.indptr) > 0  # an empty row has no first entry for reduceat to start from
        if filled.any():
            sums[filled] = np.add.reduceat(self.weights, self.indptr[:-1][filled], dtype=np.float64)
        return sums

    @classmethod
    def from_edges(cls, source: Array, target: Array, nodes: int, weights: Array | None = None) -> "CSR":
        """The matrix with an entry (source, target) for each edge.

        Parallel edges become one: without weights it counts once, with weights it is their sum.
        """
        import scipy.sparse

        if len(source) != len(target):
            raise SignError(f"{len(source)} edge sources but {len(target)} edge targets")
        if len(source) and (min(source.min(), target.min()) < 0 or max(source.max(), target.max()) >= nodes):
            low = int(min(source.min(), target.min()))
            wrong = low if low < 0 else int(max(source.max(), target.max()))
            raise SignError(f"an edge names node {wrong}, but nodes are numbered 0 to {nodes - 1}")
        if weights is not None:
            check_weights(weights, len(source))
        values = np.ones(len(source), np.float32) if weights is None else weights.astype(np.float32)
        matrix = scipy.sparse.coo_array((values, (source, target)), shape=(nodes, nodes)).tocsr()
        return cls.from_scipy(matrix, weighted=weights is not None)

    @classmethod
    def from_scipy(cls, matrix: "scipy.sparse.csr_array", weighted: bool = True) -> "CSR":
        """The same matrix; ``weighted=False`` keeps the pattern alone."""
        matrix.sum_duplicates()
        matrix.sort_indices()
        indices = matrix.indices.astype(index_type(matrix.shape[0]))
        weights = matrix.data.astype(np.float32) if weighted else None
        return cls(matrix.indptr.astype(np.int64), indices, weights)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """The same matrix for scipy (weights of one are written out)."""
        import scipy.sparse

        data = np.ones(self.entries, np.float32) if self.weights is None else self.weights
        return scipy.sparse.csr_array((data, self.indices, self.indptr), (self.nodes, self.nodes))

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transpose, up to rounding of weights."""
        other = self.to_scipy().T.tocsr()
        other.sort_indices()
        same = (other.indptr == self.indptr).all() and (other.indices == self.indices).all()
        return bool(same and (self.weights is None or np.allclose(other.data, self.weights, rtol=1e-5)))

    @cached_property
    def transposed(self) -> "CSR":
        """The rows of the transpose."""
        return CSR.from_scipy(self.to_scipy().T.tocsr(), weighted=self.weights is not None)

    @cached_property
    def rows(self) -> Array:
        """The row of every entry."""
        return np.repeat(np.arange(self.nodes, dtype=self.indices.dtype), np.diff(self.indptr))

    def keep(self, chosen: NDArray[np.bool_]) -> "CSR":
        """The entries that are chosen."""
        counts = np.bincount(self.rows[chosen], minlength=self.nodes)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return CSR(indptr, self.indices[chosen], None if self.weights is None else self.weights[chosen])

    def without_loops(self) -> "CSR":
        """The matrix without its diagonal."""
        return self.keep(self.rows != self.indices)

    def with_loops(self) -> "CSR":
        """The matrix with one added to its diagonal."""
        import scipy.sparse

        identity = scipy.sparse.eye_array(self.nodes, dtype=np.float32, format="csr")
        plain = self.weights is None and not (self.rows == self.indices).any()
        return CSR.from_scipy(self.to_scipy() + identity, weighted=not plain)

    def without_some(self, share: float, seed: int) -> "CSR":
        """Without a random ``share`` of the edges; (i, j) and (j, i) go or stay together."""
        if share == 0:
            return self
        low = np.minimum(self.rows, self.indices).astype(np.uint64)
        high = np.maximum(self.rows, self.indices).astype(np.uint64)
        drawn = _scatter(_scatter(low ^ _scatter(np.array([seed], np.uint64))) + high)
        return self.keep(drawn >= np.uint64(share * 2.0**64))

    def induced(self, nodes: Array) -> "CSR":
        """Rows and columns of ``nodes``, in that order."""
        matrix = self.to_scipy()[nodes][:, nodes]
        return CSR.from_scipy(matrix.tocsr(), weighted=self.weights is not None)


@dataclass(frozen=True, eq=False)
class Matrix:
    r"""The matrix :math:`\mathrm{diag}(l)\,(W + \lambda I)\,\mathrm{diag}(r)` that an engine multiplies.

    Normalisation and self-loops stay factors of the product: no normalised copy of the entries is made.
    """

    csr: CSR
    left: Floats | None = None
    right: Floats | None = None
    self_loop: float = 0.0

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            factor = getattr(self, name)
            if factor is None:
                continue
            if factor.shape != (self.csr.nodes,) or factor.dtype != np.float32:
                raise SignError(
                    f"a matrix has a {name} factor of {factor.dtype} and shape {factor.shape}; "
                    f"it must be float32, one number for each of {self.csr.nodes} nodes"
                )

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """The matrix with all factors multiplied out."""
        import scipy.sparse

        identity = scipy.sparse.eye_array(self.csr.nodes, dtype=np.float32, format="csr")
        result = self.csr.to_scipy() + self.self_loop * identity
        for factor, on_left in ((self.left, True), (self.right, False)):
            if factor is not None:
                diagonal = scipy.sparse.diags_array(factor)
                result = diagonal @ result if on_left else result @ diagonal
        return result.astype(np.float32).tocsr()
