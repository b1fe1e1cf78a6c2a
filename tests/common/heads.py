"""Small descriptions of every head."""

from typing import Any

from sign.models.architecture import Architecture
from sign.models.gamlp import GAMLP
from sign.models.gpr import GPR
from sign.models.hoga import HOGA
from sign.models.nagphormer import NAGphormer
from sign.models.sagn import SAGN
from sign.models.sign import SIGN

DROPOUT = {"dropout": 0.0, "input_dropout": 0.0}
ATTENTION = DROPOUT | {"attention_dropout": 0.0}
SETTINGS: dict[type[Architecture], dict[str, Any]] = {
    SIGN: DROPOUT
    | {"inception_layers": 1, "inception_units": 5, "classification_layers": 1, "classification_units": 6}
    | {"activation": "prelu", "batch_norm": True},
    SAGN: ATTENTION | {"units": 6, "layers": 2, "heads": 2, "classification_layers": 1, "batch_norm": True},
    GAMLP: ATTENTION
    | {"attention": "jk", "score": "sigmoid", "units": 6, "layers": 1, "classification_layers": 2}
    | {"residual": True, "batch_norm": True},
    HOGA: ATTENTION | {"units": 6, "layers": 2, "heads": 2, "batch_norm": True},
    NAGphormer: ATTENTION | {"units": 6, "layers": 2, "heads": 2},
    GPR: DROPOUT | {"coefficients": "free", "alpha": 0.2, "units": 6, "layers": 1, "batch_norm": True},
}
CASES: list[tuple[type[Architecture], dict[str, Any]]] = [
    *((kind, {}) for kind in SETTINGS),
    *((SIGN, {"aggregation": aggregation}) for aggregation in ("mean", "max", "sum")),
    (SAGN, {"layers": 1, "heads": 1, "classification_layers": 0}),
    (GAMLP, {"attention": "recursive", "score": "leaky_relu"}),
    (GAMLP, {"attention": "jk", "layers": 0, "residual": False}),
    (GAMLP, {"attention": "recursive", "layers": 0}),
    (HOGA, {"heads": 1}),
    (NAGphormer, {"heads": 1}),
    (GPR, {"coefficients": "interpolated"}),
    (GPR, {"layers": 0, "batch_norm": False}),
]


def head(kind: type[Architecture], **changes: Any) -> Architecture:
    """A small head."""
    return kind(**(SETTINGS[kind] | changes))


def name_of(value: Any) -> str | None:
    """The name of a case, for pytest."""
    if isinstance(value, type):
        return value.__name__
    return "-".join(map(str, value.values())) if isinstance(value, dict) else None
