"""Write ``src/sign/datasets/files/debian.npz`` from a folder with the graph of Debian's packages.

``python tools/embed_debian.py FOLDER FILE``; the folder holds ``names.txt`` and ``tags.txt``, and the graph twice in
the layout of ``dataset=custom``, in ``Sections`` and ``Tags``. ``src/sign/datasets/files/README.md`` describes both.
The same folder gives the same bytes: arrays have fixed types, and numpy writes no times into the archive.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[Any]
NONE = 255  # no section, or in no split


def embedded_arrays(folder: Path) -> dict[str, Array]:
    """Read the folder; return the arrays of the embedded file by name."""
    sections, tags = folder / "Sections", folder / "Tags"
    packages = _lines(folder / "names.txt")
    edges = np.load(sections / "edges.npy")
    words = scipy.sparse.load_npz(sections / "features.npz").tocsr()
    words.sort_indices()
    labels = [text.strip('"') for text in _lines(sections / "labels.csv")[1:]]  # after the header
    section_names = sorted(set(labels) - {""})
    section = [section_names.index(label) if label else NONE for label in labels]
    matrix = np.load(tags / "labels.npy")
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    return {
        "packages": np.array(packages, "S"),
        "dependencies_per_package": _narrow(np.bincount(edges[:, 0], minlength=len(packages)), np.uint16),
        "dependencies": _narrow(edges[:, 1], np.uint16),
        "words_per_package": _narrow(np.diff(words.indptr), np.uint8),
        "words": _narrow(words.indices, np.uint16),
        "section": _narrow(np.array(section), np.uint8),
        "section_names": np.array(section_names, "S"),
        "tags_per_package": _narrow(matrix.sum(axis=1), np.uint8),
        "tags": _narrow(np.nonzero(matrix)[1], np.uint8),
        "tag_names": np.array(_lines(folder / "tags.txt"), "S"),
        "split": _split(sections, tags, len(packages)),
    }


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def _narrow(numbers: Array, dtype: type[np.unsignedinteger[Any]]) -> Array:
    """Convert numbers to a smaller type; raise if one does not fit."""
    if len(numbers) and (numbers.min() < 0 or numbers.max() > np.iinfo(dtype).max):
        raise ValueError(f"{numbers.min()} to {numbers.max()}: not in the range of {np.dtype(dtype)}")
    return numbers.astype(dtype)


def _split(sections: Path, tags: Path, packages: int) -> Array:
    """Return 0, 1 or 2 for train, val and test; both tasks have the split of the source packages."""
    split = np.full(packages, NONE, np.uint8)
    for folder in (sections, tags):
        for number, name in enumerate(("train", "val", "test")):
            nodes = np.load(folder / f"{name}.npy")
            if not np.isin(split[nodes], (NONE, number)).all():
                raise ValueError(f"{folder / name}.npy: a package is in another split of the other task")
            split[nodes] = number
    return split


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    np.savez_compressed(arguments.file, **embedded_arrays(arguments.folder))
