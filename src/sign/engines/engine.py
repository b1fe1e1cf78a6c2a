"""The contract of an engine: it multiplies, and never changes a result beyond rounding."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from sign.settings import Checked
from sign.sparse import Floats, Matrix


@dataclass(frozen=True)
class Engine(Checked, ABC):
    """Somewhere to multiply a sparse matrix by a block of features."""

    def limits(self) -> AbstractContextManager[None]:
        """Within it, the preparation of operators keeps to the engine's share of the machine."""
        return nullcontext()

    @abstractmethod
    def product(self, matrix: Matrix, x: Floats) -> Floats:
        """``matrix @ x`` in float32, one row of ``x`` a node."""
