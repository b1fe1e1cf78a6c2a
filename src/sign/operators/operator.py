"""What every operator is: a frozen description of a linear map, and how its product is formed."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from sign.graph import Graph
from sign.settings import Checked
from sign.sparse import Array, Floats, Matrix

Product: TypeAlias = Callable[[Matrix, Floats], Floats]


@dataclass(frozen=True)
class Operator(Checked, ABC):
    """A linear map B. It holds no data: its fields are its equality, its repr and its fingerprint."""

    @abstractmethod
    def matrix(self, graph: Graph) -> Matrix:
        """The sparse matrix that products are made of, for one graph."""

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """B x, through the engine's ``product``. Operators that are not one product override this."""
        return product(matrix, x)

    @property
    def products(self) -> int:
        """How many products one power takes."""
        return 1

    def resolve(self, graph: Graph) -> Self:
        """The operator with every field that depends on the data set filled in."""
        return self

    def describe(self) -> dict[str, Any]:
        """The operator's part of a fingerprint."""
        return {"class": f"{type(self).__module__}.{type(self).__name__}", **asdict(self)}


def inverse_power(degrees: Array, power: float) -> Floats:
    """``degrees ** -power``, with zero where there is no degree."""
    with np.errstate(divide="ignore"):
        return np.where(degrees > 0, degrees**-power, 0.0).astype(np.float32)
