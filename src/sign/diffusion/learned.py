"""Operators with learned weights: learned once on the training nodes, stored beside the hops, and frozen."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sign.errors import SignError
from sign.graph.classification import NodeClassification, Origin
from sign.graph.csr import Array, Floats
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import EDGE_DATA, Operator, Polynomial, Product
from sign.store.store import LEARNED, HopFolder, Store
from sign.system.hashing import digest

POWER = 0  # under which they are stored
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FrozenOperator(Operator):
    """An operator with its learned parameters, which applies to any graph with the same features.

    ``learned_on`` is the digest of what it was trained on; with the parameters it is a part of the fingerprint.
    ``seconds`` is the time that learning took, now or when the parameters were stored.
    """

    operator: Operator
    parameters: Floats
    learned_on: str
    scaling: FeatureScaling
    seconds: float = 0.0

    @classmethod
    def from_plain(cls, operator: Operator, values: Mapping[str, Any], scaling: FeatureScaling) -> "FrozenOperator":
        """Return what :meth:`to_plain` described, for the operator and the scaling of features of a run."""
        return cls(operator, np.asarray(values["parameters"], np.float32), values["learned_on"], scaling)

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters, and the digest of what they were learned on."""
        return {"learned_on": self.learned_on, "parameters": self.parameters}

    def matrix(self, graph: Graph) -> Matrix:
        """Return the matrix of the operator with these parameters."""
        return self.operator.learned_matrix(Origin(graph, self.scaling), self.parameters)

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Return B x."""
        return self.operator.apply(matrix, x, product)

    @property
    def reads(self) -> tuple[str, ...]:
        """The data of edges that the matrix depends on."""
        return self.operator.reads

    @property
    def products(self) -> int:
        """The number of products per power."""
        return self.operator.products

    @property
    def is_one_product(self) -> bool:
        """Whether B is the matrix itself."""
        return self.operator.is_one_product

    @property
    def polynomial(self) -> Polynomial | None:
        """B as a polynomial of its matrix."""
        return self.operator.polynomial

    def describe(self) -> dict[str, Any]:
        """Return the settings, the digest of what the weights were learned on, and that of the weights."""
        learned = {"learned_on": self.learned_on, "parameters": digest(self.parameters)}
        return self.operator.describe() | learned


def freeze(operator: Operator, classification: NodeClassification, store: Store) -> Operator:
    """Return the operator, with its parameters if it learns some: from the store, or learned and stored.

    Of runs that start together, one learns and the others wait for it.
    """
    if not operator.learns:
        return operator
    learned_on = _digest_of_inputs(operator, classification)
    folder = _parameter_folder(store, classification.name, operator, learned_on)
    if POWER not in folder.hops():
        with folder.locked(lambda: log.info("waiting for another run that learns the weights of %s", operator.name)):
            if POWER not in folder.hops():
                _learn(operator, classification, folder)
    folder.touch()
    parameters, seconds = np.array(folder.open(POWER)[:]), folder.hops()[POWER]["seconds"]
    return FrozenOperator(operator, parameters, learned_on, classification.feature_scaling, seconds)


def copy_parameters(operator: FrozenOperator, dataset: str, store: Store) -> None:
    """Write the parameters of an operator to another store, where :func:`freeze` finds them."""
    folder = _parameter_folder(store, dataset, operator.operator, operator.learned_on)
    with folder.locked():
        _write(folder, operator.parameters, 0.0)


def training_origin(classification: NodeClassification) -> Origin:
    """Return what operators learn on: of a transductive graph without the labels and splits of all other nodes.

    Of an inductive graph it is the one induced by the training nodes, which has no other nodes.

    Raises
    ------
    SignError
        If there is no graph.
    """
    origin = classification.scopes[0].origin
    if origin is None:
        raise SignError(
            f"{classification.name}: has no graph on which an operator could learn its weights; export it again with it"
        )
    graph, nothing = origin.graph, np.empty(0, np.int64)
    labels = np.full_like(graph.labels, 0 if graph.multilabel else -1)
    labels[graph.train] = graph.labels[graph.train]
    return Origin(replace(graph, labels=labels, val=nothing, test=nothing), origin.scaling)


def _learn(operator: Operator, classification: NodeClassification, folder: HopFolder) -> None:
    """Learn the parameters and store them. The caller holds the lock."""
    origin, started = training_origin(classification), time.perf_counter()
    log.info("%s: learns its weights on the training nodes", operator)
    parameters: Array = operator.learn(origin)
    seconds = time.perf_counter() - started
    log.info("%s: learned its weights in %.1f s", operator.name, seconds)
    _write(folder, parameters, seconds)


def _write(folder: HopFolder, parameters: Array, seconds: float) -> None:
    with folder.draft(POWER, parameters.shape) as draft:
        draft.write(slice(None), parameters)
        draft.commit(seconds, 0)


def _digest_of_inputs(operator: Operator, classification: NodeClassification) -> str:
    """Return the digest of everything that parameters are learned on."""
    scope, labels = classification.scopes[0], classification.labels.get("train")
    if labels is None or "train" not in scope.rows:
        raise SignError(f"{classification.name}: has no training nodes, on which an operator could learn its weights")
    unread = set(EDGE_DATA) - set(operator.reads)
    source = {field: value for field, value in scope.source.items() if field not in unread}
    graph = json.dumps(source, sort_keys=True).encode()
    return digest(np.frombuffer(graph, np.uint8), scope.rows["train"], labels)


def _parameter_folder(store: Store, dataset: str, operator: Operator, learned_on: str) -> HopFolder:
    """Return the folder of the parameters of an operator; in single precision, whatever the hops have."""
    key = {"operator": operator.describe(), "scope": LEARNED, "rows": None, "learned_on": learned_on}
    return replace(store, dtype="float32").folder(dataset, **key)
