"""The hops of one operator on one scope: those that are stored, and those that have to be computed.

Only rows that some split uses are stored, unless the store keeps all. A power is then computed on the rows that
the powers after it read, which are fewer the nearer it is to the last. Features are diffused in blocks of
columns that fit the engine's memory; how they are cut changes no bit of the result.
"""

import math
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sign import memory
from sign.console import console
from sign.engines.engine import Engine, Job
from sign.errors import SignError
from sign.fingerprint import digest
from sign.operators.operator import Operator
from sign.problem import Origin, Scope
from sign.renumbering import places, renumbered
from sign.sparse import Array, Floats, Matrix
from sign.store import Chain, Draft, Store

MARGIN = 0.05  # of the memory that is left which stays free, for what is not an array
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
    used = None if task.store.rows == "all" else task.scope.used
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
    for place, rows in memory.gather(features, used):
        draft.array[place] = _as_stored(origin.scaling.apply(rows), task.store.dtype, "the features")
        memory.release(draft.array[place])
    return draft.commit(time.perf_counter() - began, 0)


def _write_powers(
    task: Task, origin: Origin, operator: Operator, used: Rows, drafts: dict[int, Draft]
) -> dict[int, float]:
    """Store powers of an operator: every block of columns goes through all of them.

    With one block, a power is in the store before the next begins; with several, the last block completes them.
    """
    start, last = _start(task, min(drafts)), max(drafts)
    matrix = task.engine.matrix(operator, origin.graph)
    needed = _needed(operator, matrix, used, drafts, start)
    if task.engine.takes_jobs:
        return _hand_over(task, origin, operator, matrix, needed, used, drafts, start)
    blocks = _column_blocks(task, operator, matrix)
    order = None
    if not operator.is_one_product and len(blocks) == 1:  # else the memory is needed for columns
        order = task.engine.renumbering(matrix, operator.products * (last - start))
    wanted = used
    if order is not None:
        matrix, wanted = renumbered(matrix, order), places(order)[slice(None) if used is None else used]
    seconds = dict.fromkeys(drafts, 0.0)
    share = len(drafts) / ((last - start) * len(blocks) * max(operator.products, 1))
    for block in blocks:
        x = _load(task, origin, start, block)
        x = x if order is None else x[order]
        spare = np.empty_like(x) if operator.is_one_product else None
        for power in range(start + 1, last + 1):
            began = time.perf_counter()
            place = f"{task.scope.name} graph · {task.name(power)}"
            what = place if len(blocks) == 1 else f"{place} · columns {block.start} to {block.stop}"
            advance = partial(task.work.advance, share, what)
            result = _product(task, operator, matrix, x, needed[power], spare, advance)
            x, spare = result, x if result is spare else None  # fresh memory is slow: two arrays take turns
            _round(x, task.store.dtype, needed[power], str(operator))
            if draft := drafts.get(power):
                for part in memory.parts(draft.array):
                    draft.array[part, block] = x[part if wanted is None else wanted[part]]
                seconds[power] += time.perf_counter() - began
                if block is blocks[-1]:
                    draft.commit(seconds[power], operator.products)
        del x, spare, result  # before the next block is loaded
    return seconds


def _hand_over(
    task: Task,
    origin: Origin,
    operator: Operator,
    matrix: Matrix,
    needed: dict[int, Rows],
    used: Rows,
    drafts: dict[int, Draft],
    start: int,
) -> dict[int, float]:
    """Store powers that the engine computes in one job; they are whole together."""
    began = time.perf_counter()

    def write(power: int, rows: slice, columns: slice, values: Array) -> None:
        array = drafts[power].array
        array[rows, columns] = _as_stored(values, task.store.dtype, str(operator))
        memory.release(array[rows])

    task.engine.run(
        Job(
            apply=operator.apply,
            polynomial=operator.polynomial,
            buffers=operator.buffers,
            matrix=matrix,
            columns=task.scope.features,
            rows={power: needed[power] for power in sorted(needed)},
            wanted=drafts.keys(),
            used=used,
            dtype=task.store.dtype,
            read=partial(_read, task, origin, start),
            write=write,
        )
    )
    nodes = task.scope.nodes
    task.work.rows += operator.products * sum(
        nodes if rows is None else len(rows) for rows in needed.values()
    )
    task.work.all_rows += operator.products * nodes * len(needed)
    task.work.advance(len(drafts), task.letter)
    seconds = (time.perf_counter() - began) / len(drafts)
    return {power: draft.commit(seconds, operator.products) for power, draft in drafts.items()}


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
        read = matrix.csr.reached(rows)
        for others in (rows if matrix.self_loop else None, used if power - 1 in wanted else None):
            if others is not None:
                read[others] = True
        rows = None if read.all() else np.flatnonzero(read)
    return needed


def _column_blocks(task: Task, operator: Operator, matrix: Matrix) -> list[slice]:
    """Blocks of columns, as wide as the memory that is left allows, and about equal."""
    columns, nodes = task.scope.features, task.scope.nodes
    whole, column = task.engine.needs(matrix)
    one = 4 * nodes * operator.buffers + column
    left = memory.left() - whole
    widest = int(left * (1 - MARGIN)) // one
    if widest < 1:
        # with a larger budget, arrays that now lie in files take up to half of it
        least = memory.readable(2 * (memory.resident() + whole + one / (1 - MARGIN)))
        raise SignError(
            f"engine.memory={task.engine.memory}: not enough for one column of {operator} on {nodes:,} nodes; "
            f"{least} would do"
        )
    width = math.ceil(columns / math.ceil(columns / min(widest, columns)))
    if width < columns and widest >= memory.LINE:  # whole cache lines, where that can be
        width = min(-(-width // memory.LINE), widest // memory.LINE) * memory.LINE
    blocks = [slice(first, min(first + width, columns)) for first in range(0, columns, width)]
    if len(blocks) > 1:
        task.work.remark(
            f"{memory.readable(left)} of memory left: {columns} columns go through {task.letter} "
            f"in {len(blocks)} blocks of {width}"
        )
    return blocks


def _load(task: Task, origin: Origin, power: int, block: slice) -> Floats:
    """Columns of the array that products start from, read in order."""
    x = np.empty((task.scope.nodes, block.stop - block.start), np.float32)
    for part in memory.slices(task.chain(None).open(power) if power else origin.graph.features):
        x[part] = _read(task, origin, power, part, block)
    return x


def _read(task: Task, origin: Origin, power: int, rows: slice, columns: slice) -> Floats:
    """Some rows and columns of the array that products start from."""
    array = task.chain(None).open(power) if power else origin.graph.features
    values = array[rows, columns].astype(np.float32) if power else origin.scaling.apply(array[rows], columns)
    if isinstance(array, np.ndarray):
        memory.release(array[rows])
    return values


def _product(
    task: Task,
    operator: Operator,
    matrix: Matrix,
    x: Floats,
    rows: Rows,
    spare: Floats | None,
    advance: Callable[[], None],
) -> Floats:
    """B x, on some rows or all; in ``spare`` where that is given."""
    free = [] if spare is None else [spare]

    def product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
        result = task.engine.product(matrix, x, rows, free.pop() if out is None and free else out)
        task.work.rows += len(x) if rows is None else len(rows)
        task.work.all_rows += len(x)
        advance()
        return result

    result = operator.apply(matrix, x, product)
    if not isinstance(result, np.ndarray) or result.shape != x.shape:
        got = getattr(result, "shape", type(result).__name__)
        raise SignError(f"{operator} made {got} of rows of shape {x.shape}; its apply must keep the shape")
    return result.astype(np.float32, copy=False)


def _round(x: Floats, dtype: str, rows: Rows, what: str) -> None:
    """Round to what the store holds, so that going on from the store or from memory is the same."""
    for part in memory.slices(x if rows is None else rows):
        chosen = part if rows is None else rows[part]
        stored = _as_stored(x[chosen], dtype, what)
        if dtype != "float32":
            x[chosen] = stored


def _as_stored(values: Array, dtype: str, what: str) -> Array:
    """The values as the store holds them; all have to be finite."""
    with np.errstate(over="ignore"):  # it is found below
        stored = values.astype(dtype, copy=False)
    if stored.size and not (np.isfinite(stored.min()) and np.isfinite(stored.max())):
        raise SignError(f"{what}: some values are not finite in {dtype}, the type of the store (store.dtype)")
    return stored
