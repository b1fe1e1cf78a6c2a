"""Feature scaling before diffusion, and scaling of hop rows before the network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.profile import Profile
from sign.system import arrays
from sign.system.hashing import digest

PARAMETERS = ("mean", "deviation")
# Where arithmetic in float32 neither overflows nor underflows: deviations and means of columns, squared norms of rows.
SAFE_DEVIATION = (1e-30, 1e30)
SAFE_SQUARES = (1e-30, np.finfo(np.float32).max)
MAX_RATIO = 10  # of the largest values of columns that have the same unit
MAX_DENSITY = 0.5  # of bags of words
MIN_EMBEDDING = 32  # columns of an embedding, whose scales are a part of it


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """A scaling of node features whose parameters are fitted on the training nodes.

    ``row_sum`` divides each row by the sum of its absolute values; ``standardize`` gives every column mean 0 and
    variance 1 over the training nodes (a constant column becomes 0).
    """

    method: str
    mean: Floats | None = None
    deviation: Floats | None = None

    @classmethod
    def fit(cls, method: str, graph: Graph) -> "FeatureScaling":
        """Fit the scaling on the training nodes of ``graph``."""
        if method != "standardize":
            return cls(method)
        mean = _moment(graph, np.zeros(graph.features.shape[1]), 1)
        return cls.of_moments(mean, _moment(graph, mean, 2))

    @classmethod
    def of_moments(cls, mean: Array, variance: Array) -> "FeatureScaling":
        """Return the scaling ``standardize`` for the mean and the variance of each column over the training nodes."""
        deviation = np.sqrt(variance)
        deviation[deviation == 0] = 1
        low, high = SAFE_DEVIATION
        safe = deviation.min() >= low and max(deviation.max(), np.abs(mean).max()) <= high
        dtype = np.float32 if safe else np.float64  # in which rows are scaled
        return cls("standardize", mean.astype(dtype), deviation.astype(dtype))

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "FeatureScaling":
        """Return the scaling that :meth:`to_plain` described."""
        mean, deviation = (values[name] for name in PARAMETERS)
        if mean is None:
            return cls(values["method"])
        return cls(values["method"], *(np.array(parameter, values["dtype"]) for parameter in (mean, deviation)))

    def to_plain(self) -> dict[str, Any]:
        """Return the method and its parameters as plain values, which a checkpoint keeps."""
        if self.mean is None or self.deviation is None:
            return {"method": self.method, **dict.fromkeys(PARAMETERS)}
        parameters = {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}
        return {"method": self.method, "dtype": str(self.mean.dtype), **parameters}

    @property
    def fingerprint(self) -> str:
        """The method and, if there are any, a hash of its parameters."""
        return self.method if self.mean is None else f"{self.method}-{digest(self.mean, self.deviation)}"

    @property
    def keeps_zeros(self) -> bool:
        """Whether features that are zero stay so."""
        return self.mean is None

    def apply(self, features: Array, columns: slice = slice(None)) -> Floats:
        """Return ``columns`` of the scaled rows, as float32."""
        if self.mean is not None and self.deviation is not None:
            rows = features[:, columns].astype(self.mean.dtype)
            with np.errstate(over="ignore"):  # by values far from those of training nodes; the store refuses them
                rows -= self.mean[columns]
                rows /= self.deviation[columns]
                return rows.astype(np.float32, copy=False)
        rows = features[:, columns].astype(np.float32)
        if self.method == "row_sum":
            rows /= _absolute_sums(features.astype(np.float32, copy=False))
        return rows


def _absolute_sums(rows: Floats) -> Array:
    """Return the sum of absolute values of each row as a column, 1 for zero rows; in double where float32 overflows."""
    magnitudes = np.abs(rows)
    with np.errstate(over="ignore"):
        sums: Array = magnitudes.sum(axis=1, keepdims=True)
    if not (finite := np.isfinite(sums)).all():
        # where the sum is finite, a quotient in double rounds to the same float32
        sums = np.where(finite, sums, magnitudes.sum(axis=1, keepdims=True, dtype=np.float64))
    return np.where(sums > 0, sums, 1)


def _moment(graph: Graph, center: Array, power: int) -> Array:
    """Mean of (x - center) ** power over the training nodes, block by block in double precision."""
    total = np.zeros_like(center)
    for _, rows in arrays.gather(graph.features, graph.train):
        total += ((rows.astype(np.float64) - center) ** power).sum(axis=0)
    return total / len(graph.train)


def choose_scaling(profile: Profile) -> str:
    """Return the method that suits the features: those of words, of an embedding, or measurements."""
    if profile.column_ratio > MAX_RATIO:
        return "standardize"  # columns with units of their own
    if not profile.signed and profile.density < MAX_DENSITY:
        return "row_sum"
    return "none" if profile.signed and profile.features >= MIN_EMBEDDING else "standardize"


def scale_hop_rows(rows: Floats, method: str) -> None:
    """Scale the rows of one hop in place: ``l2`` gives each row unit length (zero rows are unchanged)."""
    if method == "l2":
        squares = np.einsum("ij,ij->i", rows, rows)
        low, high = SAFE_SQUARES
        unsafe = np.flatnonzero(~((squares >= low) & (squares <= high)))
        unsafe = unsafe[rows[unsafe].any(axis=1)]
        if len(unsafe):
            scaled = rows[unsafe] / np.abs(rows[unsafe]).max(axis=1, keepdims=True)
            rows[unsafe] = scaled
            squares[unsafe] = np.einsum("ij,ij->i", scaled, scaled)
        norms = np.sqrt(squares)[:, None]
        rows /= np.where(norms > 0, norms, 1)
