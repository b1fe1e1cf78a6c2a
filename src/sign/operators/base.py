"""What every operator is: a frozen description of a linear map, and how its product is formed."""

import hashlib
import inspect
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

import numpy as np

from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.validation import Validated


class Product(Protocol):
    """A product of the engine; ``out`` is an array that may be overwritten by the result."""

    def __call__(self, matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
        """``matrix @ x``."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of Chebyshev polynomials of a matrix, with these coefficients.

    With ``normalized`` the rows of the result are divided by what the same sum makes of a column of ones.
    """

    terms: tuple[float, ...]
    normalized: bool = False


ONE_PRODUCT = Polynomial((0.0, 1.0))


@dataclass(frozen=True)
class Operator(Validated, ABC):
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

    @property
    def is_one_product(self) -> bool:
        """Whether B x is the product itself, so that a row of it needs only the rows that its entries name."""
        return type(self).apply is Operator.apply

    @property
    def polynomial(self) -> Polynomial | None:
        """B as a polynomial of its matrix, for engines whose rows are not at hand; None where it is not known."""
        return ONE_PRODUCT if self.is_one_product else None

    @property
    def buffers(self) -> int:
        """Arrays as large as x that B x takes at once, x among them."""
        return 2 if self.is_one_product else 6

    def resolve(self, inductive: bool) -> Self:
        """The operator with every field that depends on the protocol filled in."""
        return self

    def describe(self) -> dict[str, Any]:
        """The operator's part of a fingerprint; for a class of the user's own, its source belongs to it."""
        kind = type(self)
        description = {"class": f"{kind.__module__}.{kind.__name__}", **asdict(self)}
        own = [part for part in kind.__mro__ if not part.__module__.startswith(("sign.", "builtins", "abc"))]
        if own:
            source = "".join(_source(part) for part in own)
            description["source"] = hashlib.blake2b(source.encode(), digest_size=8).hexdigest()
        return description


def _source(kind: type) -> str:
    """The file that a class of the user's own is in; what the file imports is not looked at."""
    try:
        return inspect.getsource(inspect.getmodule(kind) or kind)
    except (OSError, TypeError) as error:
        raise SignError(
            f"{kind.__name__}: its source cannot be read, and stored hops depend on it; put the class in a file"
        ) from error


def inverse_power(degrees: Array, power: float) -> Floats:
    """``degrees ** -power``, with zero where there is no degree."""
    with np.errstate(divide="ignore"):
        return np.where(degrees > 0, degrees**-power, 0.0).astype(np.float32)
