"""Missing values of features: refused, or replaced by zero or by the mean over the training nodes."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.features import Features, SparseFeatures, first_value
from sign.graph.graph import quoted_name
from sign.system import arrays

Fill = Literal["mean", "zero"]
log = logging.getLogger(__name__)


def fill_missing(
    name: str,
    features: Features,
    fill: Fill | None,
    train: Array,
    feature_names: tuple[str, ...],
    node_ids: Array | None,
    means: Sequence[float] | None = None,
) -> tuple[Features, tuple[float, ...]]:
    """Return the features of the graph ``name`` without NaN, and the means; without ``fill``, NaN is an error.

    ``means`` are those of the training nodes of another graph; None: of this one.
    """
    found = first_value(features, np.isnan)
    if fill == "mean" and means is None and (found is not None or len(train)):
        means = _means(features, train, feature_names).tolist()
    kept = tuple(means or ()) if fill == "mean" else ()
    if found is None:
        return features, kept
    if fill is None:
        node, column, _ = found
        raise SignError(
            f"{name}: feature {quoted_name(feature_names, column)} of node {quoted_name(node_ids, node)} is nan; "
            "fill missing values with dataset.fill=mean or dataset.fill=zero"
        )
    values = np.zeros(features.shape[1]) if fill == "zero" else np.array(kept)
    if len(values) != features.shape[1]:
        raise SignError(
            f"{name}: has {features.shape[1]} features, but the model was trained on {len(values)}; give it the same "
            "columns"
        )
    filled, count = _replace(features, values)
    source = "the mean of the training nodes" if fill == "mean" else "zero"
    log.info("%s: missing values of features: %d, filled with %s", name, count, source)
    return filled, kept


def _replace(features: Features, values: Array) -> tuple[Features, int]:
    """Return features with the value of its column in place of each NaN, and the number of these."""
    if isinstance(features, SparseFeatures):
        stored = np.array(features.values)
        missing = np.isnan(stored)
        stored[missing] = values[features.indices[missing]]
        return replace(features, values=stored), int(missing.sum())
    filled, count = arrays.copy_rows(features), 0
    for part in arrays.chunks(filled):
        rows, columns = np.nonzero(np.isnan(filled[part]))
        filled[part][rows, columns] = values[columns]
        count += len(rows)
    return filled, count


def _means(features: Features, train: Array, feature_names: tuple[str, ...]) -> Array:
    """Return the mean of each feature over the training nodes that have a value."""
    sums, counts = np.zeros(features.shape[1]), np.full(features.shape[1], len(train))
    if isinstance(features, SparseFeatures):
        rows = features.select_rows(train)
        values = np.ones(len(rows.indices)) if rows.values is None else rows.values.astype(np.float64)
        missing = np.isnan(values)
        sums += np.bincount(rows.indices, np.where(missing, 0, values), len(sums))
        counts -= np.bincount(rows.indices[missing], minlength=len(sums))
    else:
        for _, block in arrays.gather(features, train):
            missing = np.isnan(block)
            sums += np.where(missing, 0, block).sum(axis=0, dtype=np.float64)
            counts -= missing.sum(axis=0)
    if not counts.all():
        name = quoted_name(feature_names, int(np.argmin(counts)))
        raise SignError(f"dataset.fill=mean: no training node has a value of feature {name}; use dataset.fill=zero")
    means: Array = sums / counts
    return means
