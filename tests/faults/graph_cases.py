"""Malformed and unusual graphs, listed by hand: text tables, arrays, objects of PyG, and the files themselves."""

import gzip
import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from faults.graph_files import (
    EDGES,
    FEATURES,
    LABELS,
    LAYOUTS,
    NAMED,
    NODES,
    edge_rows,
    node_rows,
    text,
    write_csv,
    write_npy,
    write_npz,
    write_numbered_csv,
    write_pyg,
)

Must = Literal["load", "refuse", "either"]
EXECUTED = "executed"  # the file that hostile code would create


@dataclass(frozen=True)
class Case:
    """A graph to read, and whether it must be loaded rightly, be refused, or either of them."""

    kind: str
    name: str
    write: Callable[[Path], Path]
    must: Must = "either"


def replaced(write: Callable[[Path], Path], **files: Any) -> Callable[[Path], Path]:
    """Write a layout, then replace files: text, bytes, an array, or a function of the path; ``_`` stands for a dot."""

    def case(folder: Path) -> Path:
        path = write(folder)
        for name, content in files.items():
            file = folder / name.replace("_", ".")
            file.unlink(missing_ok=True)
            if callable(content):
                content(file)
            elif isinstance(content, np.ndarray):
                np.save(file, content, allow_pickle=True)
            elif content is not None:
                file.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return case


def cases() -> Iterator[Case]:
    """List all of them."""
    for layout in LAYOUTS:
        yield Case("good graphs", layout.name, layout.write, "load")
    yield from text_cases()
    yield from cell_cases()
    yield from label_cases()
    yield from array_cases()
    yield from sparse_cases()
    yield from pyg_cases()
    yield from file_cases()


def text_cases() -> Iterator[Case]:
    """Separators, encodings, headers, quotes, edges in both directions."""
    edges, nodes = edge_rows(NAMED, weighted=True), node_rows(NAMED)
    plain = text(edge_rows(NAMED))
    reverse = [[row[1], row[0], *row[2:]] for row in edges[1:]]
    loads = {
        "CRLF": {"edges_csv": text(edges).replace("\n", "\r\n"), "nodes_csv": text(nodes).replace("\n", "\r\n")},
        "byte order mark": {"edges_csv": b"\xef\xbb\xbf" + text(edges).encode()},
        "quoted cells": {"nodes_csv": text([[f'"{cell}"' for cell in row] for row in nodes])},
        "spaces around cells": {"edges_csv": text([[f" {cell} " for cell in row] for row in edges])},
        "upper-case header": {"edges_csv": text([[cell.upper() for cell in edges[0]], *edges[1:]])},
        "no line end": {"edges_csv": text(edges).rstrip("\n")},
        "blank lines at the end": {"edges_csv": text(edges) + "\n\n"},
        "reversed columns": {"nodes_csv": text([row[::-1] for row in nodes])},
        "shuffled nodes": {"nodes_csv": text([nodes[0], *nodes[:0:-1]])},
        "no header": {"edges_csv": text(edges[1:])},
        "src/dst": {"edges_csv": plain.replace("source,target", "src,dst")},
        "from/to": {"edges_csv": plain.replace("source,target", "from,to")},
        "u/v": {"edges_csv": plain.replace("source,target", "u,v")},
        "both directions": {"edges_csv": text([*edges, *reverse])},
        "one edge in both directions": {"edges_csv": text([*edges, reverse[0]])},
        "all but one in both directions": {"edges_csv": text([*edges, *reverse[1:]])},
        "unweighted, in both directions": {"edges_csv": text([row[:2] for row in [*edges, *reverse]])},
        "unweighted duplicates": {"edges_csv": plain + plain.partition("\n")[2]},
        "self-loop": {"edges_csv": text([*edges, ["n3", "n3", "2"]])},
        "validation": {"nodes_csv": text(nodes).replace(",val,", ",validation,").replace(",train,", ",TRAIN,")},
        "integer features": {"nodes_csv": text([nodes[0], *([*row[:3], "1", "2", "3"] for row in nodes[1:])])},
        "no edges but one": {"edges_csv": text(edges[:2])},
    }
    for name, files in loads.items():
        yield Case("text tables", name, replaced(write_csv, **files), "load")
    eithers = {
        f"separator {separator!r}": {"edges_csv": text(edges, separator), "nodes_csv": text(nodes, separator)}
        for separator in (";", "\t", "|", " ", ":", ", ")
    }
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp1252", "shift-jis", "cp037"):
        content = text(nodes).replace("red", "r" if encoding == "shift-jis" else "é").encode(encoding)
        eithers[f"encoding {encoding}"] = {"nodes_csv": content}
    eithers |= {
        "CR": {"edges_csv": text(edges).replace("\n", "\r")},
        "weights": {"edges_csv": text(edges).replace("weight", "weights")},
        "w": {"edges_csv": text(edges).replace("weight", "w")},
        "an unknown column": {"edges_csv": text(edges).replace("weight", "colour")},
        "blank lines": {"edges_csv": text(edges).replace("\n", "\n\n")},
        "a comment": {"edges_csv": "# edges\n" + text(edges)},
        "header only": {"edges_csv": text(edges[:1])},
        "no edges at all": {"edges_csv": ""},
        "quotes that are doubled": {"nodes_csv": text(nodes).replace("red", '"r""ed"')},
        "a line break in a cell": {"nodes_csv": text(nodes).replace("red", '"r\ned"')},
        "a zero-width space": {"edges_csv": text(edges).replace("n1,", "n1\u200b,", 1)},
        "decimal comma": {"nodes_csv": text(nodes, ";").replace(".", ",")},
        "numbers with thousands separators": {"nodes_csv": text(nodes).replace("-0.132", '"1,000"')},
        "another pair of columns": {
            "edges_csv": text([["source", "target", "from", "to"], *([*row[:2], row[1], row[0]] for row in edges[1:])])
        },
    }
    for name, files in eithers.items():
        yield Case("text tables", name, replaced(write_csv, **files))
    refused = {
        "different weights of two directions": {"edges_csv": text([*edges, [*reverse[0][:2], "99"]])},
        "different weights of one direction": {"edges_csv": text([*edges, [*edges[1][:2], "99"]])},
        "an unclosed quote": {"nodes_csv": text(nodes).replace("red", '"red', 1)},
        "a NUL character": {"edges_csv": text(edges).replace("n5", "n5\0", 1)},
        "a row that is too short": {"nodes_csv": text([*nodes[:5], nodes[5][:-1], *nodes[6:]])},
        "a row that is too long": {"nodes_csv": text([*nodes[:5], [*nodes[5], "1"], *nodes[6:]])},
        "a column twice": {"nodes_csv": text(nodes).replace("x2", "x1")},
        "a column without a name": {"nodes_csv": text(nodes).replace("x2", "")},
        "no header in nodes": {"nodes_csv": text(nodes[1:])},
        "an id twice": {"nodes_csv": text([*nodes, nodes[1]])},
        "two id columns": {"nodes_csv": text(nodes).replace("x1", "node_id")},
        "two label columns": {"nodes_csv": text(nodes).replace("x1", "class")},
        "label and label_a": {"nodes_csv": text(nodes).replace("x1", "label_a")},
        "no features": {"nodes_csv": text([row[:3] for row in nodes])},
        "no labels": {"nodes_csv": text([[row[0], *row[2:]] for row in nodes])},
        "an unknown split": {"nodes_csv": text(nodes).replace(",val,", ",dev,")},
        "no training nodes": {"nodes_csv": text(nodes).replace(",train,", ",,")},
        "only spaces": {"edges_csv": "   \n  \n"},
        "an image": {"edges_csv": b"\x89PNG\r\n\x1a\n" + bytes(100)},
        "HTML": {"edges_csv": "<!doctype html><html><body>404 Not Found</body></html>\n"},
        "JSON": {"edges_csv": '[{"source": "n0", "target": "n1"}]\n'},
        "a Git LFS pointer": {"edges_csv": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"},
        "a line of 40 MB": {"edges_csv": "source,target\n" + "n" * 40_000_000 + ",n1\n"},
        "a million columns": {"edges_csv": "source,target" + ",x" * 10**6 + "\n"},
    }
    for name, files in refused.items():
        yield Case("text tables", name, replaced(write_csv, **files), "refuse")


CELLS = ["", "  ", "nan", "NaN", "NA", "None", "null", "?", "inf", "-inf", "1e999", "1e39", "-1", "0", "-0.0", "99"]
CELLS += ["1.5", "1e3", "0x1", "1_0", "01", "+1", "3.0", "١", "true", "'", "=1+1", "n1", "n99", "9" * 400, str(2**63)]
CELLS += [str(2**31), "1e-300", "1e-13", "😀", "a\tb", "red", "train", "1;2", '"1,5"', "\u202e1", "$(id)", "\x1b[31m"]


def cell_cases() -> Iterator[Case]:
    """Put each hostile cell into each kind of column, of a graph with and without ids."""
    nodes, edges = {"id": 0, "label": 1, "split": 2, "feature": 3}, {"source": 0, "target": 1, "weight": 2}
    for cell in CELLS:
        shown = cell if len(cell) < 20 else f"{cell[:9]}…"
        for name, column in nodes.items():
            rows = node_rows(NAMED)
            rows[-1][column] = cell  # a node in no split and without an edge
            yield Case("cells", f"{name} {shown!r}", replaced(write_csv, nodes_csv=text(rows)))
        for name, column in edges.items():
            rows = edge_rows(NAMED, weighted=True)
            rows[4][column] = cell
            yield Case("cells", f"{name} {shown!r}", replaced(write_csv, edges_csv=text(rows)))
        rows = edge_rows(None, header=False)
        rows[4][1] = cell
        yield Case("cells", f"numbered target {shown!r}", replaced(write_numbered_csv, edges_csv=text(rows)))


def label_cases() -> Iterator[Case]:
    """Labels of every type, and markers of missing ones."""
    for marker in ("", "NaN", "nan", "None", "null", "NULL", "NA", "N/A", "?", "-1"):
        rows = node_rows(NAMED)
        for row in rows[-2:]:
            row[1] = marker
        yield Case("labels", f"missing as {marker!r}", replaced(write_csv, nodes_csv=text(rows)), "load")
        rows[1][1] = marker
        yield Case("labels", f"training node {marker!r}", replaced(write_csv, nodes_csv=text(rows)), "refuse")
    variants = {
        "floats": ["0.0", "1.0", "2.0"],
        "fractions": ["0.5", "1.5", "2.5"],
        "negative": ["-3", "1", "2"],
        "zeros in front": ["01", "1", "2"],
        "booleans": ["true", "false", "true"],
        "one class": ["a", "a", "a"],
        "huge numbers": [str(10**17), str(10**18), str(10**30)],
        "text and numbers": ["1", "b", "2"],
        "letters of many scripts": ["ü", "Ж", "漢"],
        "markup": ["<b>", "[/]", "\x1b[31m"],
    }
    for name, labels in variants.items():
        yield Case("labels", name, replaced(write_csv, nodes_csv=text(node_rows(NAMED, labels * 4))))
    arrays = {
        "multilabel with a two": np.where(np.eye(NODES, 3) > 0, 2, 0),
        "multilabel with NaN": np.where(np.eye(NODES, 3) > 0, np.nan, 0),
        "three dimensions": np.zeros((NODES, 2, 2)),
        "too few": np.zeros(NODES - 1, int),
        "no labels": np.full(NODES, -1),
        "text": np.array(LABELS),
        "bytes": np.array(LABELS, "S5"),
        "complex": np.ones((NODES, 3), complex),
        "dates": np.array(["2020-01-01"] * NODES, "datetime64[D]"),
    }
    for name, array in arrays.items():
        yield Case("labels", name, replaced(write_npy, labels_npy=array))


class Hostile:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return (os.mkdir, (EXECUTED,))


def header(shape: tuple[int, ...], dtype: str = "<f4", extra: str = "") -> bytes:
    """Return the header of a .npy file whose array is missing."""
    content = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}{extra}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(content)) + content.encode()


def array_cases() -> Iterator[Case]:
    """Arrays of other types, shapes and byte orders, with declared sizes that are not there, and pickles."""
    edges, features = np.array(EDGES), FEATURES
    loads = {f"{kind} edges": {"edges_npy": edges.astype(kind)} for kind in ("i1", "u1", "i4", "u8")}
    loads |= {f"{kind} features": {"features_npy": features.astype(kind)} for kind in ("f2", "f4", ">f4", ">f8", "i8")}
    loads["Fortran order"] = {"features_npy": np.asfortranarray(features), "edges_npy": np.asfortranarray(edges)}
    for name, files in loads.items():
        yield Case("arrays", name, replaced(write_npy, **files), "load")
    objects = np.array([Hostile()] * NODES, object)
    damaged = {
        "big-endian edges": {"edges_npy": edges.astype(">i4")},
        "float edges": {"edges_npy": edges.astype(float)},
        "boolean edges": {"edges_npy": edges > 3},
        "edges of three columns": {"edges_npy": np.c_[edges, edges[:, 0]]},
        "flat edges": {"edges_npy": edges.ravel()},
        "two edges": {"edges_npy": edges[:2]},
        "an edge to node 12": {"edges_npy": np.vstack([edges, [0, NODES]])},
        "an edge to node -1": {"edges_npy": np.vstack([edges, [0, -1]])},
        "an edge to node 2^40": {"edges_npy": np.vstack([edges, [0, 2**40]])},
        "complex features": {"features_npy": features.astype(complex)},
        "text as features": {"features_npy": features.astype(str)},
        "NaN": {"features_npy": np.where(features > 1, np.nan, features)},
        "infinity": {"features_npy": np.where(features > 1, np.inf, features)},
        "1e300": {"features_npy": np.where(features > 1, 1e300, features)},
        "flat features": {"features_npy": features[:, 0]},
        "no columns": {"features_npy": features[:, :0]},
        "too few rows": {"features_npy": features[:-1]},
        "a number": {"features_npy": np.array(3.0)},
        "a structured array": {"features_npy": np.zeros(NODES, "f4,i4")},
        "a pickled array": {"features_npy": objects},
        "pickled labels": {"labels_npy": objects},
        "a bare pickle": {"features_npy": pickle.dumps(Hostile())},
        "10^12 declared rows": {"features_npy": header((10**12, 3)) + bytes(144)},
        "2^62 declared columns": {"features_npy": header((12, 2**62)) + bytes(144)},
        "10^12 declared labels": {"labels_npy": header((10**12,), "<i8") + bytes(96)},
        "10^12 declared edges": {"edges_npy": header((2, 10**12), "<i8") + bytes(96)},
        "a negative size": {"features_npy": header((-12, 3)) + bytes(144)},
        "a type of 2 GB": {"labels_npy": header((12,), "<U500000000") + bytes(96)},
        "code in the header": {"features_npy": header((12, 3), extra=", 'x': __import__('os').mkdir('executed')")},
        "a header of 65,000 brackets": {"features_npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 65000) + b"(" * 65000},
        "version 9 of the format": {"features_npy": b"\x93NUMPY\x09\x00" + bytes(100)},
    }
    for name, files in damaged.items():
        yield Case("arrays", name, replaced(write_npy, **files))


def npz(**members: Any) -> bytes:
    """Return a .npz file of arrays, or of bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, member in members.items():
            if not isinstance(member, bytes):
                content = io.BytesIO()
                np.lib.format.write_array(content, np.asanyarray(member), allow_pickle=True)
                member = content.getvalue()
            archive.writestr(f"{name}.npy", member)
    return stream.getvalue()


def sparse_cases() -> Iterator[Case]:
    """Sparse matrices of other formats, with wrong indices, declared sizes, archives that expand, and pickles."""
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(np.where(FEATURES > 0, FEATURES, 0))
    good = {"indices": matrix.indices, "indptr": matrix.indptr, "format": b"", "shape": matrix.shape}
    good |= {"data": matrix.data, "format": np.array(b"csr")}
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        stream = io.BytesIO()
        scipy.sparse.save_npz(stream, matrix.asformat(form))
        must: Must = "load" if form in ("csr", "csc", "coo") else "either"
        yield Case("sparse features", form, replaced(write_npz, features_npz=stream.getvalue()), must)
    damaged: dict[str, dict[str, Any]] = {
        "an index beyond the columns": {"indices": matrix.indices + 3},
        "a negative index": {"indices": matrix.indices - 3},
        "unsorted row pointers": {"indptr": matrix.indptr[::-1]},
        "row pointers beyond the entries": {"indptr": matrix.indptr * 2},
        "too few entries": {"data": matrix.data[:-3]},
        "2^40 columns": {"shape": (NODES, 2**40)},
        "2^62 columns": {"shape": (NODES, 2**62)},
        "2^40 rows": {"shape": (2**40, 3)},
        "a negative shape": {"shape": (-NODES, 3)},
        "three dimensions": {"shape": (NODES, 3, 1)},
        "complex numbers": {"data": matrix.data.astype(complex)},
        "NaN": {"data": np.full(len(matrix.data), np.nan)},
        "an unknown format": {"format": np.array(b"xyz")},
        "a pickled format": {"format": np.array(Hostile(), object)},
        "pickled data": {"data": np.array([Hostile()] * len(matrix.data), object)},
        "10^12 declared entries": {"data": header((10**12,), "<f8") + bytes(64)},
        "an archive that expands to 1 GB": {"data": header((2**27,), "<f8") + bytes(2**30), "indices": np.zeros(8, np.int32)},
        "no row pointers": {"indptr": None},
        "float indices": {"indices": matrix.indices.astype(float)},
        "duplicate entries": {"indices": np.zeros_like(matrix.indices)},
    }
    for name, changes in damaged.items():
        # built when it is written: one of them is large
        def write(folder: Path, changes: dict[str, Any] = changes) -> Path:
            members = {key: value for key, value in (good | changes).items() if value is not None}
            return replaced(write_npz, features_npz=npz(**members))(folder)

        yield Case("sparse features", name, write)
    yield Case("sparse features", "not an archive", replaced(write_npz, features_npz=b"PK\x03\x04" + bytes(99)), "refuse")
    yield Case("sparse features", "an empty archive", replaced(write_npz, features_npz=npz()), "refuse")


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
        yield Case("PyG", name, replaced(write_pyg, graph_pt=lambda file, value=value: torch.save(value, file)), "refuse")


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
            yield Case(
                "files", f"{layout.name}, file {number} is empty", lambda f, missing=missing: missing(f, size=0)
            )
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
