"""The contract of an engine: it multiplies, and never changes a result beyond rounding."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.errors import FieldError, SignError
from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import ONE_PRODUCT, Operator, Polynomial, Product
from sign.system import memory
from sign.validation import Validated


def _ignore(*_: object) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Job:
    """Powers of an operator, which an engine computes in a chain.

    ``rows`` has, for each power in order, the rows that are to be computed; of the ``wanted`` powers, the rows
    ``used`` are handed to ``write`` as numbers of type ``dtype``, to which every power is rounded.
    """

    apply: Callable[[Matrix, Floats, Product], Floats]
    polynomial: Polynomial | None
    buffers: int
    matrix: Matrix
    columns: int
    rows: Mapping[int, Array | None]
    wanted: Collection[int]
    used: Array | None
    dtype: str
    read: Callable[[slice, slice], Floats]
    """Some rows and columns of what the first power is made of."""
    write: Callable[[int, slice, slice, Array], None]
    """Some columns of a power, for a range of the rows used."""
    advance: Callable[[int, slice], None] = _ignore
    """A product of a power was made, for these columns."""
    finished: Callable[[int, float], None] = _ignore
    """All of a wanted power is written; it took so many seconds."""
    remark: Callable[[str], None] = _ignore
    """Something that the user should know."""
    products: int = 1
    name: str = "a product"
    letter: str = ""

    @property
    def is_one_product(self) -> bool:
        """Whether a power is one product with the one before."""
        return self.polynomial == ONE_PRODUCT

    @property
    def row_bytes(self) -> int:
        """Of all columns of a row: in a file, some of them are read and written with what lies beside them."""
        return 4 * self.columns

    def stored(self, values: Array) -> Array:
        """The values as the store holds them; all have to be finite."""
        return as_stored(values, self.dtype, self.name)


def as_stored(values: Array, dtype: str, what: str) -> Array:
    """Values as the store holds them; all have to be finite."""
    with np.errstate(over="ignore"):  # it is found below
        stored = values.astype(dtype, copy=False)
    if stored.size and not (np.isfinite(stored.min()) and np.isfinite(stored.max())):
        raise SignError(f"{what}: some values are not finite in {dtype}, the type of the store (store.dtype)")
    return stored


@dataclass(frozen=True)
class Engine(Validated, ABC):
    """Somewhere to multiply a sparse matrix by a block of features.

    ``memory`` is what may be resident while hops are computed, such as 4GB; null is a share of what the machine
    and its control group have left.
    """

    memory: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.memory, int) and not isinstance(self.memory, bool):  # bytes
            object.__setattr__(self, "memory", str(self.memory))
        super().__post_init__()
        if self.memory is not None and not memory.parse_size(self.memory):
            raise FieldError("memory", self.memory, "is not a size such as 500MB or 4GB")

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Within it, work keeps to the engine's share of the machine; what has no room goes to ``scratch``."""
        total = memory.default_budget() if self.memory is None else memory.parse_size(self.memory) or 0
        if total <= (taken := memory.resident()):
            raise SignError(
                f"engine.memory={self.memory}: the program alone takes {memory.format_size(taken)}; give it more"
            )
        with memory.limit(total, scratch):
            yield

    def needs(self, matrix: Matrix) -> tuple[int, int]:
        """Bytes that a product takes beside its operator's arrays: in all, and for each column."""
        return 0, 0

    def matrix(self, operator: Operator, graph: Graph) -> Matrix:
        """The matrix of an operator; an engine may know another way to count what it is made of."""
        return operator.matrix(graph)

    def run(self, job: Job) -> None:
        """Compute a chain of powers."""
        from sign.engines import powers

        powers.run(self, job)

    @abstractmethod
    def product(
        self, matrix: Matrix, x: Floats, rows: Array | None = None, out: Floats | None = None
    ) -> Floats:
        """``matrix @ x`` in float32, one row of ``x`` a node; in ``out`` where that is given.

        With ``rows``, a sorted list, the other rows of the result may hold anything; nor does the engine read
        rows of ``x`` that the wanted ones do not need.
        """
