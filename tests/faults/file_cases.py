"""Objects of PyG with other tensors, and files that are missing, doubled, special or something else."""

import gzip
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from faults.graph_case import Case, Hostile, replaced
from faults.graph_files import (
    EDGES,
    FEATURES,
    LAYOUTS,
    NAMED,
    NODES,
    edge_rows,
    text,
    write_csv,
    write_npy,
    write_npz,
    write_pyg,
)


def pyg_cases() -> Iterator[Case]:
    """Objects of PyG with other tensors, and files that are something else."""
    import torch

    def changed(**changes: Any) -> Callable[[Path], Path]:
        def write(folder: Path) -> Path:
            from torch_geometric.data import Data
            from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
            from torch_geometric.data.storage import GlobalStorage

            file = write_pyg(folder)
            with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
                data = torch.load(file, weights_only=True)
            for name, value in changes.items():
                data[name] = value
            torch.save(data, file)
            return file

        return write

    x, y, edges = torch.tensor(FEATURES, dtype=torch.float32), torch.arange(NODES) % 3, torch.tensor(EDGES).T
    both = torch.cat([edges, edges.flip(0)], 1)
    cases: dict[str, dict[str, Any]] = {
        "double features": {"x": x.double()},
        "half features": {"x": x.half()},
        "bfloat16 features": {"x": x.bfloat16()},
        "complex features": {"x": x.to(torch.complex64)},
        "sparse features": {"x": x.to_sparse()},
        "NaN": {"x": torch.where(x > 1, torch.nan, x)},
        "features that need a gradient": {"x": x.clone().requires_grad_()},
        "no features": {"x": None},
        "text as features": {"x": "features"},
        "float edges": {"edge_index": edges.float()},
        "edges with three rows": {"edge_index": torch.cat([edges, edges[:1]])},
        "transposed edges": {"edge_index": edges.T},
        "an edge to node 12": {"edge_index": edges + 1},
        "int32 edges": {"edge_index": edges.int()},
        "no edges": {"edge_index": edges[:, :0], "edge_weight": None},
        "both directions": {"edge_index": both, "edge_weight": None},
        "too few weights": {"edge_weight": torch.ones(3)},
        "negative weights": {"edge_weight": -torch.ones(len(EDGES))},
        "weights of two columns": {"edge_weight": torch.ones(len(EDGES), 2)},
        "integer weights": {"edge_weight": torch.ones(len(EDGES), dtype=torch.int64)},
        "float labels": {"y": y.double()},
        "fractional labels": {"y": y + 0.5},
        "negative labels": {"y": y - 3},
        "labels of one column": {"y": y[:, None]},
        "multilabel": {"y": torch.nn.functional.one_hot(y)},
        "too few labels": {"y": y[:-1]},
        "an integer mask": {"train_mask": y},
        "a short mask": {"train_mask": y[:3] > 0},
        "overlapping masks": {"val_mask": y >= 0},
        "an empty training mask": {"train_mask": y < 0},
        "ten masks": {"train_mask": (y >= 0)[:, None].expand(-1, 10)},
        "a tensor without data": {"x": torch.empty(NODES, 3, device="meta")},
        "another class": {"note": Path("x")},
    }
    for name, changes in cases.items():
        yield Case("PyG", name, changed(**changes))
    files = {
        "empty": b"",
        "a pickle": pickle.dumps(Hostile()),
        "a pickle in an old format": pickle.dumps(Hostile(), protocol=0),
        "text": b"graph",
        "zip bomb": _bomb(),
    }
    for name, content in files.items():
        yield Case("PyG", name, replaced(write_pyg, graph_pt=content), "refuse")
    for name, value in {"a dictionary": {"x": x}, "a list": [x], "a tensor": x}.items():
        yield Case(
            "PyG", name, replaced(write_pyg, graph_pt=lambda file, value=value: torch.save(value, file)), "refuse"
        )


def _bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(2**26))
    return stream.getvalue()


def file_cases() -> Iterator[Case]:
    """Files that are missing, doubled, empty, no files at all, or cut short."""

    def folder_named(file: Path) -> None:
        file.mkdir()

    def emptied(folder: Path) -> Path:
        return folder

    special: dict[str, Callable[[Path], object]] = {
        "a folder": folder_named,
        "a pipe": os.mkfifo,
        "a link to itself": lambda file: file.symlink_to(file.name),
        "a link to nothing": lambda file: file.symlink_to("nothing"),
        "a link to /dev/zero": lambda file: file.symlink_to("/dev/zero"),
    }
    for name, make in special.items():
        for file in ("edges_csv", "nodes_csv"):
            yield Case("files", f"{file.replace('_', '.')} is {name}", replaced(write_csv, **{file: make}), "refuse")
        yield Case("files", f"features.npy is {name}", replaced(write_npy, features_npy=make), "refuse")
    for layout in LAYOUTS[:-1]:
        for number in range(4):

            def missing(folder: Path, layout: Any = layout, number: int = number, size: int | None = None) -> Path:
                path = layout.write(folder)
                file = sorted(folder.iterdir())[number % len(list(folder.iterdir()))]
                file.unlink() if size is None else os.truncate(file, size)
                return path

            yield Case("files", f"{layout.name}, file {number} is missing", missing)
            yield Case("files", f"{layout.name}, file {number} is empty", lambda f, missing=missing: missing(f, size=0))
    twice = {"edges_tsv": text(edge_rows(NAMED), "\t")}
    yield Case("files", "edges.csv and edges.tsv", replaced(write_csv, **twice), "refuse")
    yield Case("files", "labels twice", replaced(write_csv, labels_npy=np.zeros(NODES, int)), "refuse")
    yield Case("files", "splits twice", replaced(write_csv, train_txt="n0\n"), "refuse")
    yield Case("files", "an unknown id in a split", replaced(write_npz, val_txt="5\n99\n"), "refuse")
    yield Case("files", "an id twice in a split", replaced(write_npz, val_txt="5\n5\n"), "refuse")
    yield Case("files", "overlapping splits", replaced(write_npz, val_txt="0\n"), "refuse")
    yield Case("files", "an empty folder", emptied, "refuse")
    yield Case("files", "a path that does not exist", lambda folder: folder / "nothing", "refuse")
    bomb = gzip.compress(bytes(2**28), 1)
    yield Case("files", "compressed zeros", replaced(write_csv, edges_csv=None, **{"edges_csv_gz": bomb}), "refuse")
