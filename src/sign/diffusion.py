"""Which hops are missing; computes them. Here operators, engine and store meet.

Transductive data sets have one scope, ``full``. Inductive ones have two: training rows are computed
on the graph induced by the training nodes (``train``), validation and test rows on the whole graph
(``full``), so that nothing of a held-out node reaches a training row.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sign.console import console, progress
from sign.engines.engine import Engine
from sign.errors import SignError
from sign.graph import SPLITS, Graph
from sign.operators.operator import Operator
from sign.scaling import FeatureScaling
from sign.sparse import Array
from sign.store import Chain, Store

Powers = Mapping[str, tuple[Operator, int]]


@dataclass(frozen=True)
class Scope:
    """One graph that hops are computed on, and the splits that take their rows from it."""

    name: str
    graph: Graph
    rows: dict[str, Array]


@dataclass(frozen=True)
class Hop:
    """One stored array: ``p2`` is the second power of the operator under the letter p."""

    name: str
    array: Array
    found: bool
    folder: Path
    seconds: float
    products: int


@dataclass(frozen=True)
class Hops:
    """The hop arrays of every split, features first, and the rows that belong to the split.

    ``seconds`` went by now; ``cost`` is what computing all these hops took, now or when they were stored.
    """

    names: list[str]
    arrays: dict[str, list[Array]]
    rows: dict[str, Array]
    folders: list[Path]
    computed: int
    found: int
    seconds: float
    cost: float
    products: int

    def __str__(self) -> str:
        computed = f"{self.computed} hop array{'s' * (self.computed != 1)} computed"
        if self.products:
            computed += f" with {self.products} product{'s' * (self.products != 1)}"
        return f"{computed}, {self.found} found in the store ({self.seconds:.2f} s)"


def scopes(graph: Graph) -> list[Scope]:
    """The scopes of a graph: see the module's text."""
    if not graph.inductive:
        return [Scope("full", graph, {split: graph.nodes_of(split) for split in SPLITS})]
    held_out = {split: graph.nodes_of(split) for split in ("val", "test")}
    return [
        Scope("train", graph.induced_by_training(), {"train": np.arange(len(graph.train))}),
        Scope("full", graph, held_out),
    ]


def diffuse(
    graph: Graph,
    powers: Powers,
    engine: Engine,
    store: Store,
    feature_scaling: str = "none",
    branches: str = "all",
) -> Hops:
    """Bring all hops X, B X, …, Bᵏ X of every operator into the store, and open them.

    ``branches="last"`` opens only the highest power of each operator, as S-GCN does, not the way to it.
    """
    started = time.perf_counter()
    scaling = FeatureScaling.fit(feature_scaling, graph)
    arrays, rows, every = {}, {}, []
    parts = scopes(graph)
    with progress() as bar:
        total = len(parts) * (1 + sum(power for _, power in powers.values()))
        task = bar.add_task("diffusion", total=total)
        for scope in parts:
            hops = []
            for hop in _scope_hops(scope, powers, engine, store, scaling):
                hops.append(hop)
                bar.update(task, advance=1, description=f"diffusion · {scope.name} graph · {hop.name}")
            every += hops
            if branches == "last":
                hops = _last(hops, powers)
            for split, nodes in scope.rows.items():
                arrays[split], rows[split] = [hop.array for hop in hops], nodes
    found = sum(hop.found for hop in every)
    return Hops(
        names=[hop.name for hop in hops],
        arrays=arrays,
        rows=rows,
        folders=list(dict.fromkeys(hop.folder for hop in every)),
        computed=len(every) - found,
        found=found,
        seconds=time.perf_counter() - started,
        cost=sum(hop.seconds for hop in every),
        products=sum(hop.products for hop in every if not hop.found),
    )


def _last(hops: list[Hop], powers: Powers) -> list[Hop]:
    """The highest power of each operator; the features if there is none."""
    wanted = {f"{letter}{power}" for letter, (_, power) in powers.items() if power}
    return [hop for hop in hops if hop.name in wanted] or hops


def _scope_hops(
    scope: Scope, powers: Powers, engine: Engine, store: Store, scaling: FeatureScaling
) -> Iterator[Hop]:
    """The hops of one scope, computed as they are asked for."""
    graph = scope.graph
    source = {
        "scope": scope.name,
        "features": graph.features_digest,
        "scaling": scaling.fingerprint,
    }
    chain = store.chain(graph.name, operator=None, **source)
    (features,) = _fill(chain, "X", range(1), lambda _: scaling.apply(graph.features), None)
    yield features
    for letter, (described, power) in powers.items():
        operator = described.resolve(graph)
        chain = store.chain(
            graph.name,
            operator=operator.describe(),
            adjacency=graph.adjacency.digest,
            directed=graph.directed,
            **source,
        )
        step = _step(operator, graph, engine)
        yield from _fill(chain, letter, range(1, power + 1), step, features.array, operator.products)


def _step(operator: Operator, graph: Graph, engine: Engine) -> Callable[[Array], Array]:
    """x ▶ B x. The operator's matrix is made when the first product needs it, and kept."""
    matrix = cache(lambda: operator.matrix(graph))

    def step(x: Array) -> Array:
        with engine.limits():
            result = operator.apply(matrix(), x.astype(np.float32, copy=False), engine.product)
        if not isinstance(result, np.ndarray) or result.shape != x.shape:
            got = getattr(result, "shape", type(result).__name__)
            raise SignError(
                f"{operator} made {got} of rows of shape {x.shape}; its apply must keep the shape"
            )
        if not (np.isfinite(result.min()) and np.isfinite(result.max())):
            raise SignError(f"{operator} made values that are not finite; is its matrix?")
        return result

    return step


def _fill(
    chain: Chain,
    name: str,
    powers: range,
    step: Callable[[Array], Array],
    previous: Any,
    products: int = 0,
) -> Iterator[Hop]:
    """The hops of one chain; each is found in the store, or made from the one before and stored.

    Whoever finds one missing takes the chain's lock and looks again: of many runs that start together, one
    computes and the others wait for it.
    """
    present = chain.hops()
    if set(powers) <= set(present):
        for power in powers:
            yield _found(chain, name, power, present[power])
        return
    with chain.locked(
        lambda: console.print(f"waiting for another run that computes {name} in {chain.folder}")
    ):
        present = chain.hops()
        for power in powers:
            if power in present:
                hop = _found(chain, name, power, present[power])
            else:
                started = time.perf_counter()
                array = step(previous)
                seconds = time.perf_counter() - started
                stored = chain.write(power, array, seconds, products)
                hop = Hop(_label(name, power), stored, False, chain.folder, seconds, products)
            previous = hop.array
            yield hop


def _found(chain: Chain, name: str, power: int, entry: dict[str, Any]) -> Hop:
    array = chain.open(power)
    return Hop(_label(name, power), array, True, chain.folder, entry["seconds"], entry["products"])


def _label(name: str, power: int) -> str:
    return f"{name}{power}" if power else name
