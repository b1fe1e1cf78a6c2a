"""The hops of one operator on one scope: those in the store, and those that have to be computed.

Only rows that some split uses are stored, unless the store keeps all. Each power is then computed on the rows that
later powers read, which are fewer the closer it is to the last. Rows that are the same in an earlier version of the
graph are copied.
"""

import logging
import time
from collections.abc import Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from sign.diffusion.changes import Comparison, earlier_versions, most_similar, node_digests
from sign.diffusion.features import ScaledFeatures, check_representable
from sign.diffusion.hops import Hop
from sign.diffusion.labels import LabelDiffusion, parts
from sign.diffusion.needed_rows import needed_rows
from sign.diffusion.positions import LaplacianPositions
from sign.engines.base import Diffusion, Engine, FeatureSource, NodeRows
from sign.engines.progress import reach
from sign.errors import SignError
from sign.graph.classification import Origin, Scope
from sign.graph.features import SparseFeatures
from sign.graph.node_digests import Digests
from sign.operators.base import EDGE_DATA, Operator
from sign.store.store import NODE_DIGESTS, Draft, HopFolder, Store
from sign.system import arrays
from sign.system.hashing import digest

log = logging.getLogger(__name__)


@dataclass
class Totals:
    """Counts over all operators and scopes: complete hops, and rows of products, computed and at most."""

    hops: int = 0
    rows_computed: int = 0
    rows_at_most: int = 0


@dataclass(frozen=True)
class HopSource:
    """Where the hops of one operator come from; without an operator, the features themselves."""

    dataset: str
    scope: Scope
    letter: str
    operator: Operator | None
    powers: range
    engine: Engine
    store: Store
    totals: Totals

    @property
    def columns(self) -> int:
        """The columns of each hop: features, classes, or positions."""
        if isinstance(self.operator, LaplacianPositions):
            return self.operator.count
        return self.scope.classes if isinstance(self.operator, LabelDiffusion) else self.scope.features

    def name(self, power: int) -> str:
        """Return the name of a hop."""
        return f"{self.letter}{power}" if power else self.letter

    def column(self, power: int) -> str | None:
        """Return the column of exported rows that is the hop, if there is one."""
        if self.scope.exported is None:
            return None
        return self.scope.exported.column(None if self.operator is None else self.operator.describe(), power)

    def folder(self, rows: NodeRows) -> HopFolder:
        """Return the folder of hops that have these rows."""
        key = self.scope.source
        if self.operator is None:  # features depend on no edge
            key = {field: key[field] for field in ("scope", "features", "scaling")}
        else:  # data of edges are a part of the key only for operators that read them
            key = {field: key[field] for field in key if field not in EDGE_DATA or field in self.operator.reads}
        if isinstance(self.operator, LabelDiffusion | LaplacianPositions):  # which depend on no feature of a node
            key = {field: value for field, value in key.items() if field not in ("features", "scaling")}
        if isinstance(self.operator, LabelDiffusion):
            key["labels"] = self.scope.labels
        operator = None if self.operator is None else self.operator.describe()
        return self.store.folder(self.dataset, operator=operator, rows=None if rows is None else digest(rows), **key)

    def hop(self, folder: HopFolder, rows: NodeRows, power: int, found: bool, seconds: float) -> Hop:
        """Open a stored hop."""
        products = self.operator.products if self.operator else 0
        return Hop(self.name(power), power, folder, folder.open(power), rows, found, seconds, products)

    def completed(self, computed: int = 0, found: int = 0) -> None:
        """Count complete hops and show progress."""
        self.totals.hops += computed + found
        reach(self.totals.hops, f"diffusion · {self.scope.name} graph · {self.letter}", found)


def load_or_compute(source: HopSource) -> list[Hop]:
    """Return the hops of all powers, from the store or computed and stored.

    If one is missing, the folder is locked and searched again: of many runs that start together, one computes and the
    others wait for it.
    """
    used = None if source.store.rows == "all" else source.scope.used_nodes
    hops = _stored_hops(source, used)
    if set(source.powers) <= set(hops):
        source.completed(found=len(hops))
        return [hops[power] for power in source.powers]
    origin = source.scope.origin
    if origin is None and (
        absent := [power for power in source.powers if power not in hops and not source.column(power)]
    ):
        names = ", ".join(map(source.name, absent))
        raise SignError(f"{source.dataset}: has no {names}, nor a graph to compute them; export it again with them")
    folder = source.folder(used)
    compute = partial(_copy, source) if origin is None else partial(_compute, source, origin)
    waiting = f"waiting for another run that computes {source.letter} in {folder.path}"
    with folder.locked(lambda: log.info(waiting)):
        hops = _stored_hops(source, used)
        source.completed(found=len(hops))
        missing = [power for power in source.powers if power not in hops]
        if missing:
            seconds = compute(folder, used, missing)
            hops |= {power: source.hop(folder, used, power, False, seconds[power]) for power in missing}
    return [hops[power] for power in source.powers]


def _stored_hops(source: HopSource, used: NodeRows) -> dict[int, Hop]:
    """Return the stored hops among the wanted ones, with the used rows or with all."""
    hops = {}
    for rows in (None,) if used is None else (used, None):
        folder = source.folder(rows)
        folder.touch()
        shape = [source.scope.nodes if rows is None else len(rows), source.columns]
        for power, entry in folder.hops().items():
            if power in source.powers and entry["shape"] == shape:
                hops[power] = source.hop(folder, rows, power, True, entry["seconds"])
    return hops


def _copy(source: HopSource, folder: HopFolder, used: NodeRows, missing: list[int]) -> dict[int, float]:
    """Copy exported rows to the store; return the seconds that each power took."""
    nodes, exported = np.arange(source.scope.nodes) if used is None else used, source.scope.exported
    seconds = {}
    for power in missing:
        began, left = time.perf_counter(), len(nodes)
        with folder.draft(power, (len(nodes), source.columns)) as draft:
            for own, values in exported.blocks(source.column(power) or "") if exported else ():
                if values.shape[1] != source.columns:
                    raise SignError(
                        f"{source.dataset}: {source.name(power)} has {values.shape[1]} columns; export it again"
                    )
                draft.write(np.searchsorted(nodes, own), values)
                left -= len(own)
            if left:
                raise SignError(f"{source.dataset}: {source.name(power)} lacks rows of {left} nodes; export it again")
            seconds[power] = time.perf_counter() - began
            draft.commit(seconds[power], 0)
        source.completed(1)
    return seconds


def _compute(
    source: HopSource, origin: Origin, folder: HopFolder, used: NodeRows, missing: list[int]
) -> dict[int, float]:
    """Compute the missing powers and store them; return the seconds that each took."""
    shape = (source.scope.nodes if used is None else len(used), source.columns)
    with ExitStack() as stack:
        drafts = {power: stack.enter_context(folder.draft(power, shape)) for power in missing}
        if source.operator is None:
            return {power: _store_features(source, origin, used, draft) for power, draft in drafts.items()}
        if isinstance(source.operator, LabelDiffusion):
            return _store_labels(source, source.operator, origin, used, drafts)
        if isinstance(source.operator, LaplacianPositions):
            return _store_positions(source, source.operator, origin, used, drafts)
        diffusion = _diffusion(source, source.operator, origin, used, drafts)
        digests = None
        if source.engine.copies_rows and source.operator.is_one_product and _starts_from_copyable(source, diffusion):
            versions = earlier_versions(Path(source.store.root), source.folder(None), source.scope.features)
            if versions or used is None:
                digests = node_digests(origin, diffusion.matrix)
                diffusion = _with_copied_rows(source, diffusion, most_similar(versions, digests))
        _count_rows(source.totals, diffusion)
        return _store_powers(source, diffusion, drafts, digests if used is None else None)


def _store_features(source: HopSource, origin: Origin, used: NodeRows, draft: Draft) -> float:
    """Store the scaled features; return the seconds that it took."""
    began = time.perf_counter()
    for position, rows in arrays.gather(origin.graph.features, used):
        values = origin.scaling.apply(rows)
        if source.store.dtype != "float32":
            check_representable(values, source.store.dtype, position if used is None else used[position])
        draft.write(position, values)
    seconds = time.perf_counter() - began
    draft.commit(seconds, 0)
    source.completed(1)
    return seconds


def _store_labels(
    source: HopSource, labels: LabelDiffusion, origin: Origin, used: NodeRows, drafts: Mapping[int, Draft]
) -> dict[int, float]:
    """Store the diffused labels, fold by fold; return the seconds that each power took."""
    operator, seconds = labels.operator, dict.fromkeys(drafts, 0.0)
    matrix = operator.matrix_by(origin.graph, source.engine.count)
    for own, x in parts(origin, labels.folds, used):
        positions = own if used is None else np.searchsorted(used, own)
        rows, _ = needed_rows(operator, matrix, own, drafts, 0)
        diffusion = Diffusion(operator, matrix, x, rows, frozenset(drafts), own, source.store.dtype)
        _count_rows(source.totals, diffusion)
        missing, began = len(drafts) * len(own) * source.columns, time.perf_counter()
        with closing(source.engine.powers(diffusion)) as blocks:
            for power, part, columns, values in blocks:
                drafts[power].write(positions[part], values, columns)
                missing -= values.size
                del values  # a view of the engine's memory, which it reuses
                seconds[power] += time.perf_counter() - began
                began = time.perf_counter()
        if missing:
            raise SignError(f"{operator}: the engine did not yield all values of {source.letter}")
    for power, draft in drafts.items():
        draft.commit(seconds[power], labels.products)
        source.completed(1)
    return seconds


def _store_positions(
    source: HopSource, positions: LaplacianPositions, origin: Origin, used: NodeRows, drafts: Mapping[int, Draft]
) -> dict[int, float]:
    """Store the positions of the used nodes, which are the only power; return the seconds that they took."""
    ((power, draft),) = drafts.items()
    began = time.perf_counter()
    values = positions.of(origin.graph)
    draft.write(slice(None), values if used is None else values[used])
    seconds = time.perf_counter() - began
    draft.commit(seconds, positions.products)
    source.completed(1)
    return {power: seconds}


def _diffusion(
    source: HopSource, operator: Operator, origin: Origin, used: NodeRows, wanted: Collection[int]
) -> Diffusion:
    """Return what the engine has to compute: from which power, and which rows of each."""
    start = _start(source, min(wanted))
    x: FeatureSource = source.folder(None).open(start) if start else _features(origin)
    matrix = operator.matrix_by(origin.graph, source.engine.count)
    rows, _ = needed_rows(operator, matrix, used, wanted, start)
    return Diffusion(operator, matrix, x, rows, frozenset(wanted), used, source.store.dtype)


def _features(origin: Origin) -> FeatureSource:
    """Return the scaled features: sparse ones as such if few are not zero, others as they are read."""
    sparse = origin.sparse_features if isinstance(origin.graph.features, SparseFeatures) else None
    return ScaledFeatures(origin) if sparse is None else sparse


def _starts_from_copyable(source: HopSource, diffusion: Diffusion) -> bool:
    """Return whether the powers before, if there are any, are of an engine whose rows may be copied."""
    start = min(diffusion.rows) - 1
    return not start or NODE_DIGESTS in source.folder(None).hops()[start]


def _with_copied_rows(source: HopSource, diffusion: Diffusion, comparison: Comparison | None) -> Diffusion:
    """Return the diffusion, with rows copied that are the same in an earlier version of the graph."""
    if comparison is None:
        return diffusion
    start, wanted, matrix = min(diffusion.rows) - 1, diffusion.wanted, diffusion.matrix
    unchanged = comparison.unchanged_rows(matrix, max(wanted))
    rows, copied = needed_rows(diffusion.operator, matrix, diffusion.used, wanted, start, unchanged)
    known = {power: comparison.known_rows(power, nodes) for power, nodes in copied.items() if len(nodes)}
    if known:
        computed = {power: matrix.csr.nodes if own is None else len(own) for power, own in rows.items()}
        shares = [
            f"{source.name(power)} {count / (count + len(copied.get(power, ()))):.2%}"
            for power, count in computed.items()
        ]
        log.info(
            "%s graph: rows that can differ from %s, and are computed: %s",
            source.scope.name, comparison.folder.path.relative_to(source.store.root), ", ".join(shares),
        )  # fmt: skip
    return replace(diffusion, rows=rows, known=known)


def _count_rows(totals: Totals, diffusion: Diffusion) -> None:
    """Count the rows of products, those that are computed and at most."""
    nodes, products, rows = diffusion.matrix.csr.nodes, diffusion.operator.products, diffusion.rows
    totals.rows_computed += products * sum(nodes if own is None else len(own) for own in rows.values())
    totals.rows_at_most += products * nodes * len(rows)


def _store_powers(
    source: HopSource, diffusion: Diffusion, drafts: Mapping[int, Draft], digests: Digests | None
) -> dict[int, float]:
    """Store the blocks that the engine yields, and commit each power once all its values have arrived."""
    operator, seconds = diffusion.operator, dict.fromkeys(drafts, 0.0)
    missing = {power: draft.array.size for power, draft in drafts.items()}

    def commit(power: int) -> None:
        drafts[power].commit(seconds[power], operator.products, digests)
        source.completed(1)
        del missing[power]

    began = time.perf_counter()
    with closing(source.engine.powers(diffusion)) as blocks:
        for power, rows, columns, values in blocks:
            drafts[power].write(rows, values, columns)
            missing[power] -= values.size
            del values  # a view of the engine's memory, which it reuses
            seconds[power] += time.perf_counter() - began
            if not missing[power]:
                commit(power)
            began = time.perf_counter()
    for power in [power for power, size in missing.items() if size == 0]:  # arrays without a row
        commit(power)
    if missing:
        raise SignError(f"{operator}: the engine did not yield all values of {', '.join(map(source.name, missing))}")
    return seconds


def _start(source: HopSource, first: int) -> int:
    """Return the highest stored power below ``first`` that has all rows; 0 stands for the features."""
    if source.operator is not None and source.operator.recurrent:
        return 0  # the two hops before are needed; from the features both are known
    start = max((power for power in source.folder(None).hops() if power < first), default=0)
    if start < first - 1:
        log.info(
            "%s on the %s graph: the powers before it were stored without the rows that no split uses; "
            "starting again from %s (store.rows=all keeps all rows)",
            source.name(first), source.scope.name, source.name(start) if start else "the features",
        )  # fmt: skip
    return start
