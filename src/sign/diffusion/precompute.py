"""Every hop that a model reads: computed if the store lacks it, and opened. Operators, engine and store meet here."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sign.datasets.base import Dataset
from sign.diffusion.compute import HopSource, Totals, load_or_compute
from sign.diffusion.hops import Hop, Hops
from sign.diffusion.learned import FrozenOperator, freeze
from sign.engines.base import Engine
from sign.engines.progress import progress_bar
from sign.graph.classification import NodeClassification
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.pseudo_labels import PseudoLabels
from sign.operators.base import Operator
from sign.store.store import Store

Powers: TypeAlias = Mapping[str, tuple[Operator, int]]  # by letter

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Precomputation:
    """Everything that hops depend on.

    Parameters
    ----------
    dataset
        Where the graph comes from.
    powers
        An operator and its highest power, by letter.
    engine
        Where products run.
    store
        Where hops are kept.
    feature_scaling
        How features are scaled before diffusion: a method, or the scaling of a trained model.
    branches
        ``all``, or ``last`` to open only the highest power of each operator.
    pseudo_labels
        The file of predictions that serve as labels of further training nodes; None: there are none.
    """

    dataset: Dataset
    powers: Powers
    engine: Engine
    store: Store
    feature_scaling: str | FeatureScaling = "none"
    branches: str = "all"
    pseudo_labels: Path | None = None

    def run(self) -> tuple[NodeClassification, Hops]:
        """Load the data set, compute the hops that the store lacks, and open all of them."""
        with self.engine.limits(Path(self.store.root)):
            classification = self.dataset.classification(self.feature_scaling)
        log.info("%s: %s", classification.name, classification.summary)
        powers = self.powers
        if self.pseudo_labels:  # operators learn on labels alone
            operators = _ready_operators(classification, powers, _store_of(classification, self.store))
            powers = {letter: (operator, powers[letter][1]) for letter, operator in operators.items()}
            classification = classification.with_pseudo_labels(PseudoLabels.load(self.pseudo_labels))
        hops = diffuse(classification, powers, self.engine, self.store, self.branches)
        log.info("%s", hops)
        # nothing after needs the graph
        without_graph = [replace(scope, origin=None) for scope in classification.scopes]
        return replace(classification, scopes=without_graph), hops


def diffuse(
    classification: NodeClassification, powers: Powers, engine: Engine, store: Store, branches: str = "all"
) -> Hops:
    """Store all hops X, B X, …, Bᵏ X of every operator that are missing, and open them.

    ``branches="last"`` opens only the highest power of each operator, as S-GCN does, not the powers below it.
    """
    started = time.perf_counter()
    store = _store_of(classification, store)
    arrays, rows, every = {}, {}, []
    total, totals = len(classification.scopes) * (1 + sum(power for _, power in powers.values())), Totals()
    with progress_bar("diffusion", total), engine.limits(Path(store.root)):
        operators = _ready_operators(classification, powers, store)
        wanted = [("X", None, range(1)), *((k, operators[k], range(1, powers[k][1] + 1)) for k in operators)]
        for scope in classification.scopes:
            hops: list[Hop] = []
            for letter, operator, exponents in wanted:
                source = HopSource(classification.name, scope, letter, operator, exponents, engine, store, totals)
                hops += load_or_compute(source)
            every += hops
            chosen = [hop for hop in hops if hop.name in hop_names(powers, branches)]
            for split, nodes in scope.rows.items():
                arrays[split] = [hop.array for hop in chosen]
                rows[split] = [hop.positions(nodes) for hop in chosen]
    found = sum(hop.found for hop in every)
    learned = {letter: operator for letter, operator in operators.items() if isinstance(operator, FrozenOperator)}
    return Hops(
        names=[hop.name for hop in chosen],
        arrays=arrays,
        rows=rows,
        every=every,
        computed=len(every) - found,
        found=found,
        seconds=time.perf_counter() - started,
        cost=sum(hop.seconds for hop in every) + sum(operator.seconds for operator in learned.values()),
        products=sum(hop.products for hop in every if not hop.found),
        rows_computed=totals.rows_computed,
        rows_saved=totals.rows_at_most - totals.rows_computed,
        learned=learned,
    )


def _store_of(classification: NodeClassification, store: Store) -> Store:
    """Return the store of exported hops where they are the data set, or else the given one."""
    if not classification.store:
        return store
    return replace(store, root=str(classification.store), dtype=classification.dtype, rows="used")


def _ready_operators(classification: NodeClassification, powers: Powers, store: Store) -> dict[str, Operator]:
    """Return the operators that have a power, resolved for the protocol and with all weights learned."""
    inductive = classification.scopes[0].source["inductive"]
    used = {letter: operator for letter, (operator, power) in powers.items() if power}
    return {letter: freeze(operator.resolve(inductive), classification, store) for letter, operator in used.items()}


def hop_names(powers: Powers, branches: str = "all") -> list[str]:
    """Return the names of the hops that a model reads, in order; the features alone if there is no power."""
    last = [f"{letter}{power}" for letter, (_, power) in powers.items() if power]
    if branches == "last" and last:
        return last
    return ["X", *(f"{letter}{k}" for letter, (_, power) in powers.items() for k in range(1, power + 1))]
