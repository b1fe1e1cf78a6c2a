"""Text tables and labels that are unusual or malformed."""

from collections.abc import Iterator

import numpy as np

from faults.graph_case import Case, replaced
from faults.graph_files import (
    LABELS,
    NAMED,
    NODES,
    edge_rows,
    node_rows,
    text,
    write_csv,
    write_npy,
    write_numbered_csv,
)

CELLS = ["", "  ", "nan", "NaN", "NA", "None", "null", "?", "inf", "-inf", "1e999", "1e39", "-1", "0", "-0.0", "99"]
CELLS += ["1.5", "1e3", "0x1", "1_0", "01", "+1", "3.0", "١", "true", "'", "=1+1", "n1", "n99", "9" * 400, str(2**63)]
CELLS += [str(2**31), "1e-300", "1e-13", "😀", "a\tb", "red", "train", "1;2", '"1,5"', "\u202e1", "$(id)", "\x1b[31m"]


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
        "no training nodes": {"nodes_csv": text(nodes).replace(",train,", ",,")},
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
    for marker in ("", "NaN", "nan", "None", "null", "NULL", "NA", "N/A", "?", "-", "-1"):
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
