"""What a pack declares, checked against its files before anything is allocated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from sign.errors import FieldError
from sign.graph.classification import Scope
from sign.graph.csr import Array
from sign.graph.graph import SPLITS
from sign.system.json_files import read_json
from sign.validation import Count, Range, check, check_name

FIELDS = {
    "name": str,
    "summary": str,
    "classes": Count,
    "multilabel": bool,
    "dtype": Literal["float32", "float16"],
    "digest": str,
}
SCOPE_FIELDS = {
    "name": Literal["train", "full"],
    "nodes": Annotated[int, Range(1, 1e12)],  # no file bounds it: a pack has the nodes of splits only
    "features": Count,  # the hop arrays bound it
    "labels": str,
}
MAX_BYTES = 1 << 26  # of pack.json, which has the parameters of the feature scaling
SOURCE = ("scope", "features", "scaling", "inductive")  # of the keys of the hops


def read_description(file: Path) -> dict[str, Any]:
    """Read ``pack.json``; raises ValueError, KeyError or TypeError unless every field has its type."""
    description = read_json(file, MAX_BYTES)
    scopes = description["scopes"]
    try:
        for values, fields in ((description, FIELDS), *((scope, SCOPE_FIELDS) for scope in scopes)):
            for name, kind in fields.items():
                check(name, values[name], kind)
    except FieldError as error:
        raise ValueError(str(error)) from error
    if sorted(split for scope in scopes for split in scope["splits"]) != sorted(SPLITS):
        raise ValueError(f"its scopes do not have the splits {', '.join(SPLITS)}")
    for scope in scopes:
        check_scaling(description["feature_scaling"], scope["features"])
        if missing := [name for name in SOURCE if name not in scope["source"]]:
            raise ValueError(f"the source of the scope {scope['name']} has no {missing[0]}")
    if "rows" in description:
        _check_exported(description)
    return description


def _check_exported(description: dict[str, Any]) -> None:
    """Raise ValueError unless the rows of each split are counted, and each operator has a number of powers."""
    for split in SPLITS:
        check(f"rows.{split}", description["rows"][split], Annotated[int, Range(0)])
    for letter, operator in description["operators"].items():
        check_name(letter, "operators")
        check(f"operators.{letter}.powers", operator["powers"], Count)


def check_scaling(scaling: Mapping[str, Any], features: int) -> None:
    """Raise ValueError unless the parameters of the feature scaling are numbers, one per column."""
    check("feature_scaling", scaling["method"], Literal["none", "row_sum", "standardize"])
    for values in (scaling["mean"], scaling["deviation"]):
        if values is not None and (len(values) != features or not np.isfinite(np.array(values, np.float64)).all()):
            raise ValueError(f"the feature scaling does not have {features} parameters")


def check_labels(labels: Mapping[str, Array], classes: int, multilabel: bool) -> None:
    """Raise ValueError unless the labels are those of this number of classes."""
    if not multilabel and classes > (most := sum(map(len, labels.values()))):
        raise ValueError(f"{classes} classes for {most} labels")
    for split, values in labels.items():
        if values.dtype.kind not in "biuf" or values.ndim != 1 + multilabel:
            raise ValueError(f"the labels of {split} are {values.dtype} of shape {values.shape}")
        if multilabel:
            right = values.shape[1] == classes and np.isin(values, (0, 1)).all()
        else:
            right = values.dtype.kind != "f" and (not len(values) or (values.min() >= 0 and values.max() < classes))
        if not right:
            raise ValueError(f"the labels of {split} are not those of {classes} classes")


def check_rows(scope: Scope, labels: Mapping[str, Array]) -> None:
    """Raise ValueError unless a scope has one node per label, sorted, in one split, and below its number of nodes."""
    for split, nodes in scope.rows.items():
        if nodes.dtype.kind not in "iu" or nodes.shape != labels[split].shape[:1]:
            raise ValueError(f"the nodes of {split} are {nodes.dtype} of shape {nodes.shape}")
    nodes = np.concatenate([*scope.rows.values()])
    in_order = all((own[1:] > own[:-1]).all() for own in scope.rows.values())
    if not in_order or len(np.unique(nodes)) < len(nodes):
        raise ValueError(f"the nodes of the scope {scope.name} are not sorted, or one is in two splits")
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= scope.nodes):
        raise ValueError(f"the scope {scope.name} has {scope.nodes} nodes, but node {nodes.max()} in a split")
