"""The contract of an engine: it computes powers of an operator, and changes no result beyond rounding."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array, Floats
from sign.graph.features import Features
from sign.graph.matrix import Matrix
from sign.operators.base import Motif, Operator
from sign.system import arrays, memory
from sign.validation import Validated

NodeRows: TypeAlias = Array | None  # sorted nodes; None stands for all


class Block(NamedTuple):
    """Values of one power, for a slice of the used rows and a slice of the columns.

    Parameters
    ----------
    power
        The exponent.
    rows, columns
        Where the values belong.
    values
        float32, or already rounded to the type of the store; they may be a view that is valid until the next block is
        requested.
    """

    power: int
    rows: slice
    columns: slice
    values: Array


class FeatureSource(Protocol):
    """Rows of features that are read in parts: a numpy array is one, so is a file that does not fit into memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes × columns."""

    def __getitem__(self, part: tuple[slice, slice], /) -> Any:
        """Return some rows and columns as an array."""


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Rows of a power that are copied instead of computed: ``array[positions]`` are those of ``nodes``."""

    nodes: Array
    array: Features
    positions: Array

    def copy_to(self, x: Floats, columns: slice) -> None:
        """Write some columns of the rows to ``x``, which has a row per node, and release their memory."""
        for part in arrays.row_slices(len(self.nodes), self.array[:1].nbytes):
            positions = self.positions[part]
            x[self.nodes[part]] = self.array[positions, columns]
            if isinstance(self.array, np.ndarray):
                arrays.release(self.array[positions.min() : positions.max() + 1])


@dataclass(frozen=True)
class Diffusion:
    """Powers of an operator, X_k = B X_{k-1}, that an engine computes one after the other.

    Parameters
    ----------
    operator, matrix
        The operator, and its matrix for the graph.
    x
        What the first power is computed from.
    rows
        For each power, in ascending order, the rows that later powers or the result read.
    wanted
        The powers that are yielded.
    used
        The rows of the wanted powers that are yielded.
    dtype
        The type of the store; every power is rounded to it before the next is computed.
    known
        Rows that are copied, for engines with ``copies_rows``.
    """

    operator: Operator
    matrix: Matrix
    x: FeatureSource
    rows: Mapping[int, NodeRows]
    wanted: Collection[int]
    used: NodeRows = None
    dtype: str = "float32"
    known: Mapping[int, KnownRows] = field(default_factory=dict)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self.x.shape[1]

    def read(self, rows: slice, columns: slice) -> Floats:
        """Return some rows and columns of ``x`` as float32, and release their memory if they are mapped."""
        values: Floats = self.x[rows, columns].astype(np.float32)
        arrays.release(self.x[rows, :] if isinstance(self.x, np.ndarray) else None)
        return values


@dataclass(frozen=True)
class Engine(Validated, ABC):
    """Multiplies sparse matrices by node features.

    Parameters
    ----------
    memory
        Bounds the resident memory while hops are computed, such as 4GB; None is a share of what the machine and its
        control group have left.
    """

    memory: str | None = None
    copies_rows: ClassVar[bool] = False
    """Whether a row has the same bits whichever other rows are computed, so that it can be copied from another graph
    in which it is the same."""

    def __post_init__(self) -> None:
        if isinstance(self.memory, int) and not isinstance(self.memory, bool):  # bytes
            object.__setattr__(self, "memory", str(self.memory))
        super().__post_init__()
        if self.memory is not None and not memory.parse_size(self.memory):
            raise FieldError("memory", self.memory, "is not a size such as 500MB or 4GB")

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Keep arrays within the engine's memory; those that do not fit are mapped from files in ``scratch``."""
        total = memory.default_budget() if self.memory is None else memory.parse_size(self.memory) or 0
        if total <= (resident := memory.resident()):
            raise SignError(
                f"engine.memory={self.memory}: the program alone takes {memory.format_size(resident)}; set it higher"
            )
        with memory.limit(total, scratch):
            yield

    def needs(self, matrix: Matrix) -> tuple[int, int]:
        """Return the bytes that a product takes besides the operator's arrays: in total, and per column."""
        return 0, 0

    def count(self, motif: Motif, csr: CSR) -> Array:
        """Return, for each entry of a symmetric matrix without self-loops, the motifs that contain the edge."""
        from sign.operators.motif_counts import count_motifs  # imported late: it compiles

        return count_motifs(motif, csr)

    def powers(self, diffusion: Diffusion) -> Generator[Block]:
        """Compute the wanted powers, by products unless a subclass overrides this.

        Parameters
        ----------
        diffusion
            The operator, and the powers and rows that are wanted.

        Yields
        ------
        Block
            Parts of the wanted powers, each power as soon as it is computed.
        """
        from sign.engines.powers import by_products

        return by_products(self, diffusion)

    @abstractmethod
    def product(self, matrix: Matrix, x: Floats, rows: NodeRows = None, out: Floats | None = None) -> Floats:
        """Multiply a matrix by node features.

        Parameters
        ----------
        matrix, x
            The factors; ``x`` has one row per node.
        rows
            The rows of the result that are needed, None for all. Others may have any content, and rows of ``x`` that
            the needed ones do not depend on are not read.
        out
            The array of the result; None for a new one.

        Returns
        -------
        numpy.ndarray
            ``matrix @ x`` in float32.
        """
