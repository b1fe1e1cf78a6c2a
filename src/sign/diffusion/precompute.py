"""Every hop that a model reads: brought into the store, and opened. Here operators, engine and store meet."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sign.datasets.base import Dataset
from sign.diffusion.compute import Hop, Task, Work, fill
from sign.engines.base import Engine
from sign.graph.classification import NodeClassification
from sign.graph.csr import Array
from sign.operators.base import Operator
from sign.store.store import Store
from sign.system.console import console, progress

Powers = Mapping[str, tuple[Operator, int]]


@dataclass(frozen=True)
class Hops:
    """The hop arrays of every split, features first, and the rows of each that belong to the split.

    ``seconds`` went by now; ``cost`` is what computing all these hops took, now or when they were stored.
    ``rows_computed`` are those of all products, which took ``rows_saved`` fewer than products of all rows.
    """

    names: list[str]
    arrays: dict[str, list[Array]]
    rows: dict[str, list[Array]]
    every: list[Hop]
    computed: int
    found: int
    seconds: float
    cost: float
    products: int
    rows_computed: int
    rows_saved: int

    @property
    def folders(self) -> list[Path]:
        """Where the hops are."""
        return list(dict.fromkeys(hop.chain.folder for hop in self.every))

    def records(self) -> list[dict[str, Any]]:
        """What each hop is and what it cost, in plain values."""
        return [
            {
                "name": hop.name,
                "operator": _written(hop.chain.key["operator"]),
                "scope": hop.chain.key["scope"],
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
        """The same hops for another run, which finds all of them."""
        every = [replace(hop, found=True) for hop in self.every]
        nothing = {"computed": 0, "seconds": 0.0, "products": 0, "rows_computed": 0, "rows_saved": 0}
        return replace(self, every=every, found=len(every), **nothing)  # type: ignore[arg-type]

    def __str__(self) -> str:
        computed = f"{self.computed} hop array{'s' * (self.computed != 1)} computed"
        if self.products:
            computed += f" with {self.products} product{'s' * (self.products != 1)}"
        if self.rows_saved:
            computed += f" on {self.rows_computed / (self.rows_computed + self.rows_saved):.1%} of the rows"
        return f"{computed}, {self.found} found in the store ({self.seconds:.2f} s)"


@dataclass(frozen=True)
class Precomputation:
    """All that hops depend on: a data set, operators, and where and how products are computed and kept."""

    dataset: Dataset
    powers: Powers
    engine: Engine
    store: Store
    feature_scaling: str = "none"
    branches: str = "all"

    def run(self) -> tuple[NodeClassification, Hops]:
        """Load the data set, bring its hops into the store, and say what was done."""
        with self.engine.limits(Path(self.store.root)):
            classification = self.dataset.classification(self.feature_scaling)
        console.print(f"[bold]{classification.name}[/bold]: {classification.summary}", soft_wrap=True)
        hops = diffuse(classification, self.powers, self.engine, self.store, self.branches)
        console.print(f"{hops}", soft_wrap=True)
        without_graph = [
            replace(scope, origin=None) for scope in classification.scopes
        ]  # nothing after needs it
        return replace(classification, scopes=without_graph), hops


def diffuse(
    classification: NodeClassification, powers: Powers, engine: Engine, store: Store, branches: str = "all"
) -> Hops:
    """Bring all hops X, B X, …, Bᵏ X of every operator into the store, and open them.

    ``branches="last"`` opens only the highest power of each operator, as S-GCN does, not the way to it.
    """
    started = time.perf_counter()
    if classification.store:
        store = replace(store, root=str(classification.store), dtype=classification.dtype, rows="used")
    arrays, rows, every = {}, {}, []
    wanted = [("X", None, range(1)), *((k, op, range(1, power + 1)) for k, (op, power) in powers.items())]
    with progress() as bar, engine.limits(Path(store.root)):
        shown = bar.add_task(
            "diffusion", total=len(classification.scopes) * sum(len(range_) for _, _, range_ in wanted)
        )
        work = Work(lambda done, what: bar.update(shown, advance=done, description=f"diffusion · {what}"))
        for scope in classification.scopes:
            hops = []
            for letter, operator, exponents in wanted:
                resolved = operator and operator.resolve(scope.source["inductive"])
                hops += fill(
                    Task(classification.name, scope, letter, resolved, exponents, engine, store, work)
                )
            every += hops
            chosen = _last(hops, powers) if branches == "last" else hops
            for split, nodes in scope.rows.items():
                arrays[split] = [hop.array for hop in chosen]
                rows[split] = [hop.places(nodes) for hop in chosen]
    found = sum(hop.found for hop in every)
    return Hops(
        names=[hop.name for hop in chosen],
        arrays=arrays,
        rows=rows,
        every=every,
        computed=len(every) - found,
        found=found,
        seconds=time.perf_counter() - started,
        cost=sum(hop.seconds for hop in every),
        products=sum(hop.products for hop in every if not hop.found),
        rows_computed=work.rows,
        rows_saved=work.all_rows - work.rows,
    )


def _written(operator: dict[str, Any] | None) -> str | None:
    """An operator in its own words: NormalizedAdjacency(normalization=gcn, …)."""
    if operator is None:
        return None
    values = ", ".join(f"{name}={value}" for name, value in operator.items() if name != "class")
    return f"{operator['class'].rsplit('.', 1)[-1]}({values})"


def _last(hops: list[Hop], powers: Powers) -> list[Hop]:
    """The highest power of each operator; the features if there is none."""
    wanted = {f"{letter}{power}" for letter, (_, power) in powers.items() if power}
    return [hop for hop in hops if hop.name in wanted] or hops
