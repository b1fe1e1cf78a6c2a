"""The contract of an engine: it multiplies, and never changes a result beyond rounding."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sign import memory
from sign.errors import FieldError, SignError
from sign.graph import Graph
from sign.operators.operator import Operator, Polynomial, Product
from sign.settings import Checked
from sign.sparse import Array, Floats, Matrix


@dataclass(frozen=True)
class Job:
    """Powers of an operator, for an engine that computes whole chains of them away from this process.

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


@dataclass(frozen=True)
class Engine(Checked, ABC):
    """Somewhere to multiply a sparse matrix by a block of features.

    ``memory`` is what may be resident while hops are computed, such as 4GB; null is a share of what the machine
    and its control group have left.
    """

    memory: str | None = None
    takes_jobs: ClassVar[bool] = False  # whether it computes whole chains, by `run`

    def __post_init__(self) -> None:
        if isinstance(self.memory, int) and not isinstance(self.memory, bool):  # bytes
            object.__setattr__(self, "memory", str(self.memory))
        super().__post_init__()
        if self.memory is not None and not memory.parse(self.memory):
            raise FieldError("memory", self.memory, "is not a size such as 500MB or 4GB")

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Within it, work keeps to the engine's share of the machine; what has no room goes to ``scratch``."""
        total = memory.default() if self.memory is None else memory.parse(self.memory) or 0
        if total <= (taken := memory.resident()):
            raise SignError(
                f"engine.memory={self.memory}: the program alone takes {memory.readable(taken)}; give it more"
            )
        with memory.within(total, scratch):
            yield

    def needs(self, matrix: Matrix) -> tuple[int, int]:
        """Bytes that a product takes beside its operator's arrays: in all, and for each column."""
        return 0, 0

    def matrix(self, operator: Operator, graph: Graph) -> Matrix:
        """The matrix of an operator; an engine may know another way to count what it is made of."""
        return operator.matrix(graph)

    def run(self, job: Job) -> None:
        """Compute a chain of powers, if the engine takes jobs."""
        raise NotImplementedError

    def renumbering(self, matrix: Matrix, products: int) -> Array | None:
        """An order of the nodes in which this many products, made in it, take less time; None: as they are."""
        return None

    @abstractmethod
    def product(
        self, matrix: Matrix, x: Floats, rows: Array | None = None, out: Floats | None = None
    ) -> Floats:
        """``matrix @ x`` in float32, one row of ``x`` a node; in ``out`` where that is given.

        With ``rows``, a sorted list, the other rows of the result may hold anything; nor does the engine read
        rows of ``x`` that the wanted ones do not need.
        """
