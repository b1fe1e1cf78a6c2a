"""The hops of one operator on one scope: those that are stored, and those that have to be computed.

Only rows that some split uses are stored, unless the store keeps all. A power is then computed on the rows that
the powers after it read, which are fewer the nearer it is to the last.
"""

import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sign.engines.base import Engine, Job, as_stored
from sign.errors import SignError
from sign.graph.classification import Origin, Scope
from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import Operator
from sign.store.store import Chain, Draft, Store
from sign.system import arrays
from sign.system.console import console
from sign.system.hashing import digest

Rows = Array | None  # some nodes, sorted; None stands for all


@dataclass(frozen=True)
class Hop:
    """One stored array: ``p2`` is the second power of the operator under the letter p."""

    name: str
    power: int
    chain: Chain
    array: Array
    rows: Rows
    found: bool
    seconds: float
    products: int

    def places(self, nodes: Array) -> Array:
        """The rows of the array that belong to ``nodes``."""
        return nodes if self.rows is None else np.searchsorted(self.rows, nodes)


@dataclass
class Work:
    """What is done while hops are computed: rows of products, of how many; told to ``advance`` in hops."""

    advance: Callable[[float, str], None]
    rows: int = 0
    all_rows: int = 0
    remarks: set[str] = field(default_factory=set)

    def remark(self, text: str) -> None:
        """Say something once."""
        if text not in self.remarks:
            self.remarks.add(text)
            console.print(text, soft_wrap=True)


@dataclass(frozen=True)
class Task:
    """The powers of one operator that are wanted; without an operator, the features themselves."""

    dataset: str
    scope: Scope
    letter: str
    operator: Operator | None
    powers: range
    engine: Engine
    store: Store
    work: Work

    def name(self, power: int) -> str:
        """What a hop is called."""
        return f"{self.letter}{power}" if power else self.letter

    def chain(self, rows: Rows) -> Chain:
        """The part of the store for these rows."""
        source = self.scope.source
        if self.operator is None:  # features depend on no edge
            source = {key: source[key] for key in ("scope", "features", "scaling")}
        operator = None if self.operator is None else self.operator.describe()
        return self.store.chain(
            self.dataset, operator=operator, rows=None if rows is None else digest(rows), **source
        )


def fill(task: Task) -> list[Hop]:
    """The wanted hops, found or computed.

    Whoever finds one missing takes the chain's lock and looks again: of many runs that start together, one
    computes and the others wait for it.
    """
    used = None if task.store.rows == "all" else task.scope.used_nodes
    hops = _found(task, used)
    if set(task.powers) <= set(hops):
        task.work.advance(len(hops), task.letter)
        return [hops[power] for power in task.powers]
    origin = task.scope.origin
    if origin is None:
        names = ", ".join(task.name(power) for power in task.powers if power not in hops)
        raise SignError(
            f"{task.dataset}: has no {names}, nor a graph to compute them; export it again with them"
        )
    chain = task.chain(used)
    waiting = f"waiting for another run that computes {task.letter} in {chain.folder}"
    with chain.locked(lambda: console.print(waiting, soft_wrap=True)):
        hops = _found(task, used)
        task.work.advance(len(hops), task.letter)
        missing = [power for power in task.powers if power not in hops]
        if missing:
            seconds = _compute(task, origin, chain, used, missing)
            hops |= {power: _hop(task, chain, used, power, False, seconds[power]) for power in missing}
    return [hops[power] for power in task.powers]


def _found(task: Task, used: Rows) -> dict[int, Hop]:
    """The stored hops among the wanted ones: of the rows used, or of all."""
    hops = {}
    for rows in (None,) if used is None else (used, None):
        chain = task.chain(rows)
        chain.touch()
        for power, entry in chain.hops().items():
            if power in task.powers:
                hops[power] = _hop(task, chain, rows, power, True, entry["seconds"])
    return hops


def _hop(task: Task, chain: Chain, rows: Rows, power: int, found: bool, seconds: float) -> Hop:
    name, products = task.name(power), task.operator.products if task.operator else 0
    return Hop(name, power, chain, chain.open(power), rows, found, seconds, products)


def _compute(task: Task, origin: Origin, chain: Chain, used: Rows, missing: list[int]) -> dict[int, float]:
    """Compute the missing powers and store them; returns the seconds that each took."""
    operator = task.operator
    shape = (task.scope.nodes if used is None else len(used), task.scope.features)
    with ExitStack() as stack:
        drafts = {power: stack.enter_context(chain.draft(power, shape)) for power in missing}
        if operator is None:
            return {power: _write_features(task, origin, used, draft) for power, draft in drafts.items()}
        return _write_powers(task, origin, operator, used, drafts)


def _write_features(task: Task, origin: Origin, used: Rows, draft: Draft) -> float:
    """Store the scaled features."""
    began, features = time.perf_counter(), origin.graph.features
    for place, rows in arrays.gather(features, used):
        draft.array[place] = as_stored(origin.scaling.apply(rows), task.store.dtype, "the features")
        arrays.release(draft.array[place])
    return draft.commit(time.perf_counter() - began, 0)


def _write_powers(
    task: Task, origin: Origin, operator: Operator, used: Rows, drafts: dict[int, Draft]
) -> dict[int, float]:
    """Store powers of an operator, each as soon as the engine has it."""
    start = _start(task, min(drafts))
    matrix = task.engine.matrix(operator, origin.graph)
    needed = _needed(operator, matrix, used, drafts, start)
    share = len(drafts) / (len(needed) * max(operator.products, 1) * task.scope.features)
    seconds = {}

    def write(power: int, rows: slice, columns: slice, values: Array) -> None:
        array = drafts[power].array
        array[rows, columns] = values
        arrays.release(array[rows])

    def finished(power: int, taken: float) -> None:
        seconds[power] = drafts[power].commit(taken, operator.products)

    def advance(power: int, columns: slice) -> None:
        rows, width = needed[power], columns.stop - columns.start
        task.work.rows += task.scope.nodes if rows is None else len(rows)
        task.work.all_rows += task.scope.nodes
        what = f"{task.scope.name} graph · {task.name(power)}"
        if width < task.scope.features:
            what += f" · columns {columns.start} to {columns.stop}"
        task.work.advance(share * width, what)

    task.engine.run(
        Job(
            apply=operator.apply,
            polynomial=operator.polynomial,
            buffers=operator.buffers,
            products=operator.products,
            name=str(operator),
            letter=task.letter,
            matrix=matrix,
            columns=task.scope.features,
            rows={power: needed[power] for power in sorted(needed)},
            wanted=drafts.keys(),
            used=used,
            dtype=task.store.dtype,
            read=partial(_read, task, origin, start),
            write=write,
            finished=finished,
            advance=advance,
            remark=task.work.remark,
        )
    )
    return seconds


def _start(task: Task, first: int) -> int:
    """The highest stored power below ``first`` that has all rows; 0 are the features."""
    start = max((power for power in task.chain(None).hops() if power < first), default=0)
    if start < first - 1:
        task.work.remark(
            f"{task.name(first)}: the powers before it were stored without the rows that no split uses; "
            f"starting again from {task.name(start) if start else 'the features'} (store.rows=all keeps all rows)"
        )
    return start


def _needed(
    operator: Operator, matrix: Matrix, used: Rows, wanted: Collection[int], start: int
) -> dict[int, Rows]:
    """The rows of each power that the wanted ones, or the powers after it, read."""
    rows, needed = used if operator.is_one_product else None, {}
    for power in range(max(wanted), start, -1):
        needed[power] = rows
        if rows is None:
            continue
        read = matrix.csr.column_mask(rows)
        for others in (rows if matrix.self_loop else None, used if power - 1 in wanted else None):
            if others is not None:
                read[others] = True
        rows = None if read.all() else np.flatnonzero(read)
    return needed


def _read(task: Task, origin: Origin, power: int, rows: slice, columns: slice) -> Floats:
    """Some rows and columns of the array that products start from."""
    array = task.chain(None).open(power) if power else origin.graph.features
    values = array[rows, columns].astype(np.float32) if power else origin.scaling.apply(array[rows], columns)
    if isinstance(array, np.ndarray):
        arrays.release(array[rows])
    return values
