"""Graphs of the user's own: every format gives the same graph, and what is wrong gets one sentence."""

import csv
import gzip
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse
from conftest import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import command

from sign.datasets.custom import Custom
from sign.errors import SignError
from sign.graph import SPLITS, Graph

EXAMPLE = REPOSITORY / "examples" / "graph"


@dataclass
class Truth:
    """What the files are to say: ends of edges are node numbers, labels are texts, "" for none."""

    ids: list[Any] | None
    edges: list[tuple[int, int]]
    weights: list[float] | None
    features: np.ndarray
    labels: list[str] | np.ndarray
    splits: list[str]
    directed: bool

    @property
    def nodes(self) -> int:
        return len(self.features)

    def name(self, node: int) -> Any:
        return node if self.ids is None else self.ids[node]

    def check(self, graph: Graph) -> None:
        """The graph is what the files say, found by plain loops."""
        matrix = np.zeros((self.nodes, self.nodes))
        for place, (one, two) in enumerate(self.edges):
            weight = 1 if self.weights is None else self.weights[place]
            for ends in {(one, two)} if self.directed else {(one, two), (two, one)}:
                matrix[ends] = 1 if self.weights is None else matrix[ends] + weight
        np.testing.assert_allclose(graph.adjacency.to_scipy().toarray(), matrix, rtol=1e-5)
        assert graph.features.tolist() == self.features.tolist()
        if isinstance(self.labels, np.ndarray):
            assert graph.labels.tolist() == self.labels.tolist()
        else:
            classes = sorted(set(self.labels) - {""})
            if all(re.fullmatch(r"0|[1-9]\d*", label) for label in classes):
                classes.sort(key=int)
            assert graph.classes == len(classes)
            assert graph.labels.tolist() == [classes.index(x) if x else -1 for x in self.labels]
        for split in SPLITS:
            assert graph.nodes_of(split).tolist() == [i for i, s in enumerate(self.splits) if s == split]
        assert graph.directed == self.directed


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    nodes = draw(st.integers(1, 8))
    kind = draw(st.sampled_from(["none", "whole", "text"]))
    ids: list[Any] | None = None
    if kind == "whole":
        ids = draw(st.lists(st.integers(-(2**62), 2**62), min_size=nodes, max_size=nodes, unique=True))
    if kind == "text":
        text = st.text("ab01 é,\"'-.", min_size=1, max_size=5).map(str.strip).filter(bool)
        ids = draw(st.lists(text, min_size=nodes, max_size=nodes, unique=True))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=3, max_size=20))
    directed = draw(st.booleans())
    weights = None
    if draw(st.booleans()):
        if not directed:  # list no edge in both directions, whose meaning a test of its own has
            edges = sorted({(min(edge), max(edge)) for edge in edges})
            edges += edges[:1]
        weights = draw(
            st.lists(st.sampled_from([0.25, 0.5, 2.0, 3.5]), min_size=len(edges), max_size=len(edges))
        )
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    features = rng.integers(-8, 8, (nodes, draw(st.integers(1, 3)))).astype(np.float32) / 4
    splits = [
        "train",
        *draw(st.lists(st.sampled_from([*SPLITS, ""]), min_size=nodes - 1, max_size=nodes - 1)),
    ]
    if draw(st.booleans()):
        return Truth(ids, edges, weights, features, rng.integers(0, 2, (nodes, 2)), splits, directed)
    label = st.sampled_from(draw(st.sampled_from([["0", "1", "12", "3"], ["cat", "dog", "007", "7"]])))
    labels = [draw(label) if split or draw(st.booleans()) else "" for split in splits]
    return Truth(ids, edges, weights, features, labels, splits, directed)


def write_table(table: pa.Table, folder: Path, name: str, ending: str, header: bool = True) -> None:
    file = folder / f"{name}{ending}"
    if ending == ".parquet":
        pyarrow.parquet.write_table(table, file)
        return
    options = pyarrow.csv.WriteOptions(include_header=header, delimiter="\t" if ".tsv" in ending else ",")
    with gzip.open(file, "wb") if ending.endswith(".gz") else file.open("wb") as stream:
        pyarrow.csv.write_csv(table, stream, options)


@dataclass
class Format:
    """Which files a graph is written to."""

    edges: str
    header: bool
    table: str
    features: str
    labels: str
    splits: str


FORMATS = st.builds(
    Format,
    edges=st.sampled_from([".parquet", ".csv", ".tsv", ".csv.gz", ".npy", ".npy transposed"]),
    header=st.booleans(),
    table=st.sampled_from([".parquet", ".csv", ".tsv", ".csv.gz"]),
    features=st.sampled_from(["nodes", ".npy", ".npz", ".parquet"]),
    labels=st.sampled_from(["nodes", ".npy", ".parquet", ".csv"]),
    splits=st.sampled_from(["nodes", ".npy", ".txt", ".csv"]),
)


def write(truth: Truth, form: Format, folder: Path) -> None:
    """The truth as files of some formats."""
    _write_edges(truth, form, folder)
    nodes: dict[str, Any] = {} if truth.ids is None else {"id": truth.ids}
    several = isinstance(truth.labels, np.ndarray)
    columns = {f"label_{i}": truth.labels[:, i] for i in range(2)} if several else {"Label": truth.labels}
    if form.labels == "nodes":
        nodes |= columns
    elif form.labels == ".npy":
        np.save(folder / "labels.npy", truth.labels if several else np.array(truth.labels))
    else:
        ids = {} if truth.ids is None else {"id": truth.ids}
        order = np.random.default_rng(0).permutation(truth.nodes) if ids else np.arange(truth.nodes)
        shown = {k: pa.array(v).take(order) for k, v in {**ids, **columns}.items()}
        write_table(pa.table(shown), folder, "labels", form.labels, header=bool(ids) or not several)
    if form.splits == "nodes":
        nodes["split"] = truth.splits
    else:
        for split in SPLITS:
            _write_list(
                [truth.name(i) for i, s in enumerate(truth.splits) if s == split], folder, split, form.splits
            )
    columns = {f"x{i}": truth.features[:, i] for i in range(truth.features.shape[1])}
    if form.features == "nodes":
        nodes |= columns
    elif form.features == ".npy":
        np.save(folder / "features.npy", truth.features.astype(np.float64))
    elif form.features == ".npz":
        scipy.sparse.save_npz(folder / "features.npz", scipy.sparse.csc_array(truth.features))
    else:
        pyarrow.parquet.write_table(pa.table(columns), folder / "features.parquet")
    if nodes:
        write_table(pa.table(nodes), folder, "nodes", form.table)


def _write_edges(truth: Truth, form: Format, folder: Path) -> None:
    ends = [[truth.name(node) for node in column] for column in zip(*truth.edges, strict=True)]
    if form.edges.startswith(".npy"):
        np.save(folder / "edges.npy", np.array(ends) if form.edges == ".npy" else np.array(ends).T)
        return
    columns = {"SRC": ends[0], "Dst": ends[1]}
    if truth.weights is not None:
        columns["weight"] = truth.weights
    write_table(pa.table(columns), folder, "edges", form.edges, form.header)


def _write_list(nodes: list[Any], folder: Path, split: str, ending: str) -> None:
    if ending == ".npy":
        np.save(folder / f"{split}.npy", np.array(nodes, None if nodes else np.int64))
    elif nodes:
        write_table(pa.table({"0": nodes}), folder, split, ending, header=False)


def possible(truth: Truth, form: Format) -> bool:
    """Whether the formats can say it: arrays of edges have no weights, and need more than two edges."""
    array = form.edges.startswith(".npy")
    return not array or (truth.weights is None and len(truth.edges) != 2)


@given(truth=truths(), form=FORMATS)
@settings(max_examples=200)
def test_every_format_gives_the_same_graph(truth: Truth, form: Format) -> None:
    if not possible(truth, form):
        form.edges = ".csv"
    with tempfile.TemporaryDirectory() as folder:
        write(truth, form, Path(folder))
        truth.check(Custom(path=folder, directed=truth.directed).load())


TEXT = Format(".csv", True, ".csv", "nodes", "nodes", "nodes")
Rows = list[list[str]]


def rewrite(file: Path, change: Callable[[Rows], Any], end: str = "\n") -> None:
    """Change the cells of a text table."""
    with file.open(newline="") as stream:
        rows = list(csv.reader(stream))
    change(rows)
    with file.open("w", newline="") as stream:
        csv.writer(stream, lineterminator=end).writerows(rows)


def put(column: str, value: str) -> Callable[[Rows, int], None]:
    """Write a cell of a column, wherever it is."""

    def change(rows: Rows, row: int) -> None:
        rows[row][rows[0].index(column)] = value

    return change


EVERY_NODE: dict[str, Callable[[Rows, int], Any]] = {
    "a cell too many": lambda rows, row: rows[row].append("1"),
    "a cell too few": lambda rows, row: rows[row].pop(),
    "no feature": put("x0", ""),
    "NaN": put("x0", "nan"),
    "infinity": put("x0", "1e999"),
    "text as a feature": put("x0", "high"),
    "an unknown split": put("split", "trian"),
    "the same node again": lambda rows, row: rows.append(rows[row]),
    "no id": put("id", " "),
    "a node without a name": lambda rows, row: rows[0].__setitem__(0, ""),
    "two columns of ids": lambda rows, row: [
        line.append(str(i) if i else "Node") for i, line in enumerate(rows)
    ],
    "a name twice": lambda rows, row: rows[0].__setitem__(0, "x0"),
    "no nodes": lambda rows, row: rows.__delitem__(slice(1, None)),
    "nothing": lambda rows, row: rows.clear(),
}
EVERY_EDGE: dict[str, Callable[[Rows, int], Any]] = {
    "a cell too many": lambda rows, row: rows[row].append("1"),
    "a cell too few": lambda rows, row: rows[row].pop(),
    "an unknown node": put("SRC", "nobody"),
    "no node": put("Dst", ""),
    "no names": lambda rows, row: rows[0].__setitem__(slice(0, 2), ["begin", "end"]),
    "one name": lambda rows, row: rows[0].__setitem__(1, "end"),
    "nothing": lambda rows, row: rows.clear(),
    "no weight": put("weight", ""),
    "text as a weight": put("weight", "heavy"),
    "a weight of zero": put("weight", "0"),
    "a negative weight": put("weight", "-1"),
    "an infinite weight": put("weight", "inf"),
}
HARMLESS: dict[str, Callable[[Path], Any]] = {
    "lines end as in Windows": lambda file: rewrite(file, lambda rows: None, "\r\n"),
    "a byte order mark": lambda file: file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes()),
    "spaces": lambda file: rewrite(
        file, lambda rows: rows.__setitem__(slice(None), [[f" {cell} " for cell in row] for row in rows])
    ),
    "columns in another order": lambda file: rewrite(file, lambda rows: [row.reverse() for row in rows]),
    "capitals": lambda file: rewrite(file, lambda rows: rows.__setitem__(0, [x.upper() for x in rows[0]])),
}


@st.composite
def named_truths(draw: st.DrawFn) -> Truth:
    return draw(truths().filter(lambda truth: truth.ids is not None and "nobody" not in truth.ids))


@given(truth=named_truths(), data=st.data())
@settings(max_examples=200)
def test_a_wrong_cell_is_never_a_wrong_graph(truth: Truth, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(truth, TEXT, folder)
        file, changes = data.draw(
            st.sampled_from([(folder / "nodes.csv", EVERY_NODE), (folder / "edges.csv", EVERY_EDGE)])
        )
        for harmless in data.draw(st.sets(st.sampled_from(sorted(HARMLESS)))) - {"capitals"}:
            HARMLESS[harmless](file)
        change = data.draw(st.sampled_from(["none", *sorted(changes)]))
        if change == "none" or ("weight" in change and truth.weights is None):
            truth.check(Custom(path=name, directed=truth.directed).load())
            return
        row = data.draw(st.integers(1, truth.nodes if file.name == "nodes.csv" else len(truth.edges)))

        def damage(rows: Rows) -> None:
            rows[0] = [cell.strip() for cell in rows[0]]
            changes[change](rows, row)

        if file.read_bytes().startswith(b"\xef\xbb\xbf"):
            file.write_bytes(file.read_bytes()[3:])
        rewrite(file, damage)
        with pytest.raises(SignError) as caught:
            Custom(path=name, directed=truth.directed).load()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("harmless", HARMLESS)
@given(truth=truths())
@settings(max_examples=20)
def test_what_does_not_matter(harmless: str, truth: Truth) -> None:
    with tempfile.TemporaryDirectory() as name:
        write(truth, TEXT, Path(name))
        for file in Path(name).iterdir():
            HARMLESS[harmless](file)
        if harmless == "columns in another order":
            truth.features = truth.features[:, ::-1]
            if isinstance(truth.labels, np.ndarray):
                truth.labels = truth.labels[:, ::-1]
        truth.check(Custom(path=name, directed=truth.directed).load())


@given(truth=truths(), form=FORMATS, data=st.data())
@settings(max_examples=200)
def test_damaged_files_get_one_sentence(truth: Truth, form: Format, data: st.DataObject) -> None:
    if not possible(truth, form):
        form.edges = ".parquet"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(truth, form, folder)
        file = data.draw(st.sampled_from(sorted(folder.iterdir())))
        content = file.read_bytes()
        how = data.draw(st.sampled_from(["cut", "garbage", "some bytes", "gone", "empty"]))
        if how == "cut":
            file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        elif how == "garbage":
            file.write_bytes(data.draw(st.binary(max_size=200)))
        elif how == "some bytes":
            changed = bytearray(content)
            for _ in range(data.draw(st.integers(1, 4))):
                changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
            file.write_bytes(changed)
        elif how == "gone":
            file.unlink()
        else:
            file.write_bytes(b"")
        binary = file.name.endswith((".npy", ".npz", ".parquet", ".gz"))
        optional = file.name.split(".")[0] in SPLITS
        try:
            graph = Custom(path=name, directed=truth.directed).load()
        except SignError as error:
            assert "\n" not in str(error)
            return
        # Text that was cut, and bytes that were changed, are another graph that is as right as the first.
        assert (
            how == "some bytes" or (how == "gone" and optional) or (how in ("cut", "garbage") and not binary)
        )
        assert graph.nodes >= 1
