"""Hop arrays: one stored array, and the arrays of every split that a model reads."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sign.diffusion.learned import FrozenOperator
from sign.engines.base import NodeRows
from sign.graph.csr import Array
from sign.graph.features import Features
from sign.store.store import HopFolder


@dataclass(frozen=True)
class Hop:
    """One stored array, dense or sparse: ``p2`` is the second power of the operator under the letter p.

    ``seconds`` is the time until its last block, from the last block of the power before; an engine that computes
    powers together, as Spark does, has spent most of it on the first.
    """

    name: str
    power: int
    folder: HopFolder
    array: Features
    rows: NodeRows
    found: bool
    seconds: float
    products: int

    def positions(self, nodes: Array) -> Array:
        """Return the rows of the array that belong to ``nodes``."""
        return nodes if self.rows is None else np.searchsorted(self.rows, nodes)


@dataclass(frozen=True)
class Hops:
    """The hop arrays of every split, features first, and the rows of each that belong to the split.

    ``seconds`` is the time that this diffusion took; ``cost`` the time that computing all these hops took, now or
    when they were stored, with that of learning weights. ``rows_computed`` counts the rows of all products,
    ``rows_saved`` those that were not computed because nothing reads them. ``learned`` has the operators whose weights
    were learned, by letter.
    """

    names: list[str]
    arrays: dict[str, list[Features]]
    rows: dict[str, list[Array]]
    every: list[Hop]
    computed: int
    found: int
    seconds: float
    cost: float
    products: int
    rows_computed: int
    rows_saved: int
    learned: dict[str, FrozenOperator] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """The folders of the hops."""
        return list(dict.fromkeys(hop.folder.path for hop in self.every))

    def checksums(self, split: str) -> list[str]:
        """Return the recorded hashes of the arrays of a split."""
        recorded = {id(hop.array): hop.folder.checksum(hop.power) for hop in self.every}
        return [recorded[id(array)] for array in self.arrays[split]]

    def records(self) -> list[dict[str, Any]]:
        """Return the description and cost of each hop in plain values."""
        return [
            {
                "name": hop.name,
                "operator": hop.folder.operator_text(),
                "scope": hop.folder.key["scope"],
                "rows": len(hop.array),
                "columns": hop.array.shape[1],
                "bytes": hop.array.nbytes,
                "seconds": hop.seconds,
                "products": hop.products,
                "found": hop.found,
            }
            for hop in self.every
        ]

    def again(self) -> "Hops":
        """Return the same hops for another run, which finds all of them in the store."""
        every = [replace(hop, found=True) for hop in self.every]
        nothing = {"computed": 0, "seconds": 0.0, "products": 0, "rows_computed": 0, "rows_saved": 0}
        return replace(self, every=every, found=len(every), **nothing)  # type: ignore[arg-type]

    def __str__(self) -> str:
        computed = f"{self.computed} hop array{'s' * (self.computed != 1)} computed"
        if self.products:
            computed += f" with {self.products} product{'s' * (self.products != 1)}"
        if self.rows_saved:
            computed += f" on {self.rows_computed / (self.rows_computed + self.rows_saved):.1%} of the rows"
        took = f"{computed}, {self.found} found in the store; took {self.seconds:.2f} s"
        if not self.computed:
            return took
        products = sum(hop.seconds for hop in self.every if not hop.found)
        return f"{took}, {products:.2f} s of it for products and writing"
