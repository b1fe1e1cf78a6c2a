"""Debian's packages, a directed graph of the size of Flickr that is part of the package."""

import hashlib
import io
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import numpy as np

from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.graph.csr import CSR, Array
from sign.graph.features import SparseFeatures
from sign.graph.graph import SPLITS, Graph
from sign.graph.partition import row_pointers

FILE = files("sign.datasets") / "files" / "debian.npz"
SHA256 = "576bd76b24dc4224d78ca451b98e00a45f2c45b34e1344aa0fa2c44ddf1e7fa3"
VOCABULARY = 2170
NO_SECTION = 255


@dataclass(frozen=True, kw_only=True)
class Debian(Dataset):
    """63,436 packages of Debian 12, 326,167 dependencies, 2,170 binary words of their descriptions.

    An edge points from a package to one that it depends on, recommends or suggests. ``labels=sections`` gives each
    package one of 54 sections, ``labels=tags`` any of 100 debtags. Packages of one source are in the same split and
    the same group; those without a label are in no split.
    """

    name: str = "debian"
    labels: Literal["sections", "tags"] = "sections"

    def load(self) -> Graph:
        """Read the packaged file."""
        raw = _read()
        nodes = len(raw["packages"])
        source = np.repeat(np.arange(nodes), raw["dependencies_per_package"])
        words = row_pointers(raw["words_per_package"]), raw["words"].astype(np.int32)
        labels, known = _sections(raw) if self.labels == "sections" else _tags(raw)
        names = raw["section_names" if self.labels == "sections" else "tag_names"].astype(str)
        train, val, test = (np.flatnonzero(known & (raw["split"] == number)) for number in range(len(SPLITS)))
        return Graph(
            name=self.name,
            adjacency=CSR.from_edges(source, raw["dependencies"].astype(np.int64), nodes),
            features=SparseFeatures(*words, VOCABULARY),
            labels=labels,
            classes=len(names),
            train=train,
            val=val,
            test=test,
            directed=True,
            inductive=self.inductive,
            class_names=tuple(names.tolist()),
            node_ids=raw["packages"].astype(np.dtypes.StringDType()),
            groups=_groups(raw["split"]),
        )


def _read() -> dict[str, Array]:
    """Return the arrays of the file, which are trusted because its checksum is the one of the file that was made."""
    try:
        content = FILE.read_bytes()
    except FileNotFoundError:
        content = b""
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SignError(f"{FILE}: is damaged or missing; install the package again")
    with np.load(io.BytesIO(content), allow_pickle=False) as raw:
        return {name: raw[name] for name in raw.files}


def _groups(split: Array) -> Array:
    """Return a number per package that packages of one source share.

    Which source a package is built from is not in the file. But packages are in the order of the package index, which
    lists them source by source, and a source has one split: a run of packages in one split consists of whole sources,
    of about two on average in the training split. Packages without a split belong to the run before them.
    """
    position = np.where(split < len(SPLITS), np.arange(len(split)), 0)
    known = split[np.maximum.accumulate(position)]
    return np.cumsum(np.diff(known, prepend=known[:1]) != 0)


def _sections(raw: dict[str, Array]) -> tuple[Array, Array]:
    """Return the section of each package, -1 where it has none, and which packages have one."""
    known = raw["section"] != NO_SECTION
    return np.where(known, raw["section"].astype(np.int64), -1), known


def _tags(raw: dict[str, Array]) -> tuple[Array, Array]:
    """Return a 0/1 matrix with one column per tag, -1 where a package has none at all, and which packages have any."""
    counts = raw["tags_per_package"]
    known = counts > 0
    labels = np.full((len(counts), len(raw["tag_names"])), -1, np.int8)
    labels[known] = 0
    labels[np.repeat(np.arange(len(counts)), counts), raw["tags"]] = 1
    return labels, known
