"""The contract of a head: a frozen description of a network on rows of hops. Free of torch."""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import sign.models
from sign.validation import Validated

if TYPE_CHECKING:
    from sign.models.networks.base import HopNetwork

HopColumns: TypeAlias = Mapping[str, int]
"""The hops of a wide row in order, such as X, p1 and p2, with the number of columns of each."""

FEATURES = "X"  # the name of the hop that is the features themselves; those of others are a letter and a power


def power_of(hop: str) -> int:
    """Return the power of a hop; that of the features is 0.

    >>> power_of("X"), power_of("p12")
    (0, 12)
    """
    return int(hop[len(hop.rstrip("0123456789")) :] or 0)


@dataclass(frozen=True)
class Architecture(Validated, ABC):
    """A head: what is trained on the hops. It holds no weights; its fields are its settings.

    ``head`` identifies the class in checkpoints; renaming or moving the class does not change it. A class that does
    not set it is known by its class name.
    """

    head: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "head" not in vars(cls):
            cls.head = cls.__name__

    @abstractmethod
    def network(self, hops: HopColumns, classes: int) -> "HopNetwork":
        """Return a network with new weights, whose inputs are wide rows of these hops.

        Raises
        ------
        SignError
            If the head cannot combine these hops.
        """

    @property
    def needs_two_rows(self) -> bool:
        """Whether a batch needs two rows, as batch norm does."""
        return False

    @property
    def takes_sparse_hops(self) -> bool:
        """Whether the network reads its rows by linear maps of each hop alone, which multiply sparse hops, too."""
        return False

    def to_plain(self) -> dict[str, Any]:
        """Return the description in plain values, for a checkpoint."""
        return {"head": self.head, **asdict(self)}


def from_plain(values: Mapping[str, Any]) -> Architecture:
    """Return the description that :meth:`Architecture.to_plain` wrote; only known heads are built."""
    fields = dict(values)
    return heads()[fields.pop("head")](**fields)


def heads() -> dict[str, type[Architecture]]:
    """Return every head by its name: those of this package, and those that the configuration has imported."""
    for module in pkgutil.iter_modules(sign.models.__path__):
        if not module.ispkg:
            import_module(f"sign.models.{module.name}")
    return {kind.head: kind for kind in _subclasses(Architecture)}


def _subclasses(kind: type[Architecture]) -> list[type[Architecture]]:
    return [each for child in kind.__subclasses__() for each in (child, *_subclasses(child))]
