"""Graphs of the user's own: every format gives the same graph, and what is wrong gets one message."""

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
from common.paths import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st

from sign.config.settings import Settings
from sign.datasets.custom.dataset import Custom
from sign.datasets.custom.folder import ENDINGS
from sign.errors import SignError
from sign.experiments.run import run
from sign.graph.features import SparseFeatures
from sign.graph.graph import SPLITS, Graph
from sign.runs import find_runs

EXAMPLE = REPOSITORY / "examples" / "graph"
CLASSES = ["crafts", "music", "sports"]


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
                matrix[ends] = weight
        np.testing.assert_allclose(graph.adjacency.to_scipy().toarray(), matrix, rtol=1e-5)
        assert graph.features[:].tolist() == self.features.tolist()
        if isinstance(self.labels, np.ndarray):
            assert graph.labels.tolist() == self.labels.tolist()
        else:
            classes = sorted(set(self.labels) - {""})
            if all(re.fullmatch(r"0|[1-9]\d*", label) for label in classes):
                classes.sort(key=int)
            assert graph.class_names == tuple(classes)
            assert graph.labels.tolist() == [classes.index(x) if x else -1 for x in self.labels]
        for split in SPLITS:
            assert graph.nodes_of(split).tolist() == [i for i, s in enumerate(self.splits) if s == split]
        assert graph.directed == self.directed
        assert (graph.node_ids is None) == (self.ids is None)
        if self.ids is not None:
            assert [str(node) for node in graph.node_ids] == [str(node) for node in self.ids]


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
        # all weights of an edge are equal; a test of its own has the others
        keys = [(one, two) if directed else (min(one, two), max(one, two)) for one, two in edges]
        weight = {key: draw(st.sampled_from([0.25, 0.5, 2.0, 3.5])) for key in keys}
        weights = [weight[key] for key in keys]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    features = rng.integers(-8, 8, (nodes, draw(st.integers(1, 3)))).astype(np.float32) / 4
    splits = ["train", *draw(st.lists(st.sampled_from([*SPLITS, ""]), min_size=nodes - 1, max_size=nodes - 1))]
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
        write_table(pa.table(shown), folder, "labels", form.labels, header=bool(ids) or form.header)
    if form.splits == "nodes":
        nodes["split"] = truth.splits
    else:
        for split in SPLITS:
            _write_list([truth.name(i) for i, s in enumerate(truth.splits) if s == split], folder, split, form.splits)
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


@pytest.mark.slow
@given(truth=truths(), form=FORMATS)
@settings(max_examples=100)
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
    "two columns of ids": lambda rows, row: [line.append(str(i) if i else "Node") for i, line in enumerate(rows)],
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
    return draw(truths().filter(lambda truth: truth.ids is not None))


@pytest.mark.slow
@given(truth=named_truths(), data=st.data())
@settings(max_examples=200)
def test_a_wrong_cell_is_never_a_wrong_graph(truth: Truth, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(truth, TEXT, folder)
        file, changes = data.draw(
            st.sampled_from([(folder / "nodes.csv", EVERY_NODE), (folder / "edges.csv", EVERY_EDGE)])
        )
        change = data.draw(st.sampled_from(["none", *sorted(changes)]))
        if change == "none" or ("weight" in change and truth.weights is None):
            truth.check(Custom(path=name, directed=truth.directed).load())
            return
        row = data.draw(st.integers(1, truth.nodes if file.name == "nodes.csv" else len(truth.edges)))
        rewrite(file, lambda rows: changes[change](rows, row))
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


@pytest.mark.slow
@given(truth=truths(), form=FORMATS, data=st.data())
@settings(max_examples=200)
def test_damaged_files_are_reported_in_one_message(truth: Truth, form: Format, data: st.DataObject) -> None:
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
        try:
            assert Custom(path=name, directed=truth.directed).load().nodes
        except SignError:
            return
        # What is left is another graph, as right as the first, if text was cut, bytes changed, or what may be
        # missing is gone.
        allowed = {"some bytes", *(() if binary else ("cut", "garbage"))}
        assert how in allowed or (how == "gone" and not file.name.startswith("edges"))


FILES = {
    "edges.csv": "source,target\na,b\nb,c\n",
    "nodes.csv": "id,label,split,x\na,0,train,1\nb,1,val,2\nc,1,test,3\n",
}


@pytest.fixture
def fill(tmp_path: Path) -> Callable[..., Custom]:
    """A small graph of text files; a file may be replaced, and None leaves it out."""

    def make(files: dict[str, str | np.ndarray | None], **settings: Any) -> Custom:
        for name, content in {**FILES, **files}.items():
            if isinstance(content, str):
                (tmp_path / name).write_text(content)
            elif content is not None:
                np.save(tmp_path / name, content)
        return Custom(path=str(tmp_path), **settings)

    return make


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"edges.csv": None}, r"there are no edges; looked for edges.parquet, edges.csv, edges.tsv"),
        ({"nodes.csv": "id,x\na,1\nb,2\nc,3\n"}, r"there are no labels; looked for labels.npy.*a column label"),
        (
            {"nodes.csv": "id,label\na,1\nb,2\nc,3\n"},
            r"there are no features; looked for features.npy, .*dataset.generate_features=degree, one_hot or random",
        ),
        (
            {"edges.csv": "source,target,weight\na,b,2\nb,a,5\n"},
            r"edges.csv: the edge between `a` and `b` is listed with different weights, such as 2 and 5",
        ),
        ({"edges.npy": np.zeros((2, 3), int)}, r"has edges.csv and edges.npy; keep one, or select one"),
        ({"edges.csv": "source,target\na,z\n"}, r"edges.csv, column target: 'z' is not the id of a node"),
        ({"edges.csv": ""}, r"edges.csv: the file or its first line is empty"),
        ({"edges.csv": "source,target\na,b,c\n"}, r"edges.csv: cannot be read as a table .*got 3"),
        ({"edges.csv": "begin,target\na,b\n"}, r"edges.csv: has columns begin, target; name the columns"),
        ({"edges.csv": "a\nb\n"}, r"edges.csv: name the columns of sources and targets .* or write two columns"),
        (
            {"edges.csv": "a,b,-2\n"},
            r"edges.csv: the edge from .?a.? to .?b.? has weight -2.0; weights must be positive",
        ),
        ({"edges.csv": "a,b,big\n"}, r"column 2: not every cell is a number .*'big'"),
        (
            {"edges.csv": "u,v\n", "nodes.csv": "id,label,x\nu,0,1\nv,1,2\n"},
            r"its first line could be a header or an edge",
        ),
        (
            {"edges.csv": None, "edges.npy": np.array([[0, 1], [1, 2]]), "nodes.csv": "label,x\n0,1\n1,2\n0,3\n"},
            r"2 × 2 array is ambiguous",
        ),
        ({"edges.csv": None, "edges.npy": np.zeros((2, 3))}, r"float64 of shape \(2, 3\); edges must be integers"),
        ({"nodes.csv": "label,x\n0,1\n1,2\n1,3\n"}, r"column source: not every cell is an integer .*'[ab]'"),
        (
            {"nodes.csv": "label,x\n0,1\n1,2\n1,3\n", "edges.csv": "0,3\n"},
            r"an edge refers to node 3, but nodes are numbered 0 to 2",
        ),
        ({"nodes.csv": "id,label,x\na,0,1\na,1,2\n"}, r"nodes.csv, column id: a is duplicated"),
        ({"nodes.csv": "id,label,x\na,0,1\n,1,2\n"}, r"nodes.csv, column id: row 1 has no id"),
        (
            {"nodes.csv": "id,label,x\na,0,1\nb,1,\nc,1,1\n"},
            r"feature `x` of node `b` is nan; fill missing values with dataset.fill=mean or dataset.fill=zero",
        ),
        (
            {"nodes.csv": "id,label,x\na,0,1\nb,1,red\nc,1,1\n"},
            r"'red'.*; leave the column out with dataset.ignore=\[x\], or encode it with dataset.one_hot=\[x\]",
        ),
        ({"nodes.csv": "id,label,y,x\na,0,1,1\n"}, r"the columns label and y mean the same"),
        ({"nodes.csv": "id,label,label_a,x\na,0,1,1\n"}, r"the columns label and label_a both contain labels"),
        ({"nodes.csv": ",id,label,x\n0,a,0,1\n"}, r"nodes.csv: a column has no name; write the table without"),
        ({"nodes.csv": "id,label,split,x\na,0,trian,1\n"}, r"column split: 'trian' is not a split; use train"),
        ({"nodes.csv": "id,label,split,x\na,0,train,1\nb,,test,1\nc,0,,1\n"}, r"node `b` is in the test split"),
        ({"nodes.csv": "id,label,split,x\na,0,,1\nb,,,1\nc,0,test,1\n"}, r"the train split is empty"),
        ({"nodes.csv": "id,label,x\na,,1\nb,-1,1\nc,,1\n"}, r"column label: no node has a label"),
        ({"nodes.csv": "id,label,x\na,-2,1\nb,0,1\nc,1,1\n"}, r"label -2: labels must be >= 0"),
        ({"labels.npy": np.arange(3)}, r"labels.npy: the column label of .*nodes.csv also contains labels"),
        ({"train.txt": "a\n"}, r"train.txt: the column split of .*nodes.csv also contains splits"),
        ({"features.npy": np.ones((2, 2))}, r"features.npy: has 2 rows for 3 nodes"),
        ({"features.npy": np.ones(3)}, r"features.npy: contains float64 of shape \(3,\); features must be numbers"),
        ({"features.npy": np.full((3, 1), np.nan)}, r"feature 0 of node `a` is nan"),
        (
            {"features.npy": np.full((3, 1), 1e300)},
            r"features.npy: a row has 1e\+300 as its largest value, which is inf",
        ),
        ({"features.npy": "no array"}, r"features.npy: cannot be read as a numpy array"),
        ({"features.npz": "no matrix"}, r"features.npz: cannot be read as a sparse matrix"),
        ({"features.parquet": "no table"}, r"features.parquet: cannot be read as a table"),
        (
            {"nodes.csv": "id,x\na,1\nb,2\nc,3\n", "labels.npy": np.array([[0, 1], [1, 0], [2, 1]])},
            r"labels.npy: contains 2; several labels per node must be columns of 0 and 1",
        ),
        ({"nodes.csv": "id,x\na,1\nb,2\nc,3\n", "labels.npy": np.arange(4)}, r"labels.npy: has 4 rows for 3 nodes"),
        (
            {"nodes.csv": "id,label,x\na,0,1\nb,1,1\nc,1,1\n", "train.txt": "a\nz\n"},
            r"train.txt: 'z' is not the id of a node",
        ),
        (
            {"nodes.csv": "id,label,x\na,0,1\nb,1,1\nc,1,1\n", "train.txt": "a\na\n"},
            r"train.txt: node `a` is duplicated",
        ),
    ],
)
def test_a_wrong_file_is_reported_in_one_message(
    fill: Callable[..., Custom], files: dict[str, Any], message: str
) -> None:
    with pytest.raises(SignError, match=message) as caught:
        fill(files).classification("none")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("program", ["sign", "describe"])
def test_help_shows_the_layout(program: str) -> None:
    text = (REPOSITORY / "conf" / "hydra" / "help" / f"{program}.yaml").read_text()
    lines = {line.strip()[:18]: line.strip()[18:48] for line in text.splitlines()}
    for name, endings in ENDINGS.items():
        (shown,) = (right for left, right in lines.items() if name in left.replace(",", "").split())
        assert {ending.removesuffix(".gz") for ending in endings} == set(shown.replace("(.gz)", "").split())
        assert ("(.gz)" in shown) == any(ending.endswith(".gz") for ending in endings)


def test_wrong_settings(fill: Callable[..., Custom], tmp_path: Path) -> None:
    with pytest.raises(SignError, match="path=/nowhere: there is no such folder"):
        Custom(path="/nowhere")
    with pytest.raises(SignError, match=r"dataset.edges=links.csv: there is no file"):
        fill({}, edges="links.csv").load()
    with pytest.raises(SignError, match=r"dataset.edges=links.xls: must end with .parquet or .csv"):
        fill({}, edges="links.xls").load()
    with pytest.raises(SignError, match="leave no test nodes"):
        fill({}, train_fraction=0.9, val_fraction=0.1)
    with pytest.raises(SignError, match=r"ignore=x: must be a list, such as \[a,b\]"):
        fill({}, ignore="x")
    with pytest.raises(SignError, match=r"combine=min: choose one of error, mean, max, sum"):
        fill({}, combine="min")


@pytest.mark.parametrize(
    ("folder", "name"), [("people", "people"), ("my graph (2)", "my-graph-2"), (".hidden", "hidden"), ("…", "custom")]
)
def test_a_graph_is_named_after_its_folder(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / folder).mkdir()
    assert Custom(path=str(tmp_path / folder)).name == name
    assert Custom(path=f"{tmp_path / folder}/").name == name
    assert Custom(path=str(tmp_path / folder), name="mine").name == "mine"
    (tmp_path / folder / "graph.v2.pt").touch()
    assert Custom(path=str(tmp_path / folder / "graph.v2.pt")).name == "graph.v2"


def test_columns_are_left_out_encoded_and_filled(fill: Callable[..., Custom]) -> None:
    nodes = "id;label;split;country;age;note\na;x;train;de;1;?\nb;y;val;fr;NA;!\nc;N/A;;de;3;-\n"
    settings = {"ignore": ["note", "split"], "one_hot": ["country"], "fill": "zero", "train_fraction": 0.5}
    graph = fill({"nodes.csv": nodes}, **settings).load()
    assert graph.feature_names == ("country=de", "country=fr", "age")
    assert graph.features.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 3]]
    assert graph.class_names == ("x", "y")
    assert graph.labels.tolist() == [0, 1, -1]
    assert graph.node_ids.tolist() == ["a", "b", "c"]
    assert sum(len(graph.nodes_of(split)) for split in SPLITS) == 2  # drawn: the column split is left out
    with pytest.raises(SignError, match="there is no column contry; the columns are id, label, split, country, age"):
        fill({"nodes.csv": nodes}, ignore=["note"], one_hot=["contry"]).load()


@pytest.mark.parametrize("name", ["label", "split", "id"])
def test_only_features_are_encoded(fill: Callable[..., Custom], name: str) -> None:
    with pytest.raises(SignError, match=f"one_hot: column {name} is not a feature; the columns of features are x"):
        fill({}, one_hot=[name]).load()


def test_columns_beside_a_features_file_are_named_in_the_log(
    fill: Callable[..., Custom], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    assert fill({"features.npy": np.eye(3)}).load().features.shape == (3, 3)
    assert "nodes.csv: not used: x; the features are in features.npy" in caplog.text
    with pytest.raises(SignError, match="one_hot: column x is not a feature; no column is one"):
        fill({"features.npy": np.eye(3)}, one_hot=["x"]).load()


@pytest.mark.parametrize("method", ["degree", "one_hot", "random"])
def test_a_graph_without_features_gets_some_by_a_setting(fill: Callable[..., Custom], method: str) -> None:
    bare = {"nodes.csv": "id,label,split\na,0,train\nb,1,val\nc,1,test\n"}
    one, again = (fill(bare, generate_features=method).load() for _ in range(2))
    assert one.features.shape == (3, {"degree": 17, "one_hot": 3, "random": 256}[method])
    assert one.features_digest == again.features_digest
    with pytest.raises(SignError, match=f"generate_features={method}: the files have features; remove the setting"):
        fill({}, generate_features=method).load()


@pytest.mark.parametrize("changes", [{"edges.csv": "a,b\nb,a\nb,c\nb,d\n"}, {"edges.csv": "a,b\na,d\nd,c\nc,b\n"}])
def test_generated_and_encoded_features_of_an_inductive_graph_see_training_nodes_only(
    fill: Callable[..., Custom], changes: dict[str, str]
) -> None:
    nodes = "id,label,split,c\na,0,train,x\nb,1,train,y\nc,1,val,{}\nd,0,test,{}\n"
    for how in ({"ignore": ["c"], "generate_features": "degree"}, {"one_hot": ["c"], "fill": "mean"}):
        first, second = (
            fill(files, inductive=True, **how).load().induced_by_training().features_digest
            for files in (
                {"nodes.csv": nodes.format("x", "y"), "edges.csv": "a,b\nc,d\n"},
                {"nodes.csv": nodes.format("new", "NA"), **changes},
            )
        )
        assert first == second


def test_files_of_other_names(fill: Callable[..., Custom]) -> None:
    graph = fill({"edges.csv": None, "links.tsv": "a\tb\nb\tc\n"}, edges="links.tsv").load()
    assert graph.adjacency.entries == 4


def test_an_undirected_graph_may_list_its_edges_in_both_directions(fill: Callable[..., Custom]) -> None:
    expected = [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    for edges in ("a,b,2\nb,c,3\n", "a,b,2\nb,a,2\nb,c,3\nc,b,3\n", "a,b,2\nb,a,2\nb,c,3\n", "a,b,2\na,b,2\nc,b,3\n"):
        assert fill({"edges.csv": edges}).load().adjacency.to_scipy().toarray().tolist() == expected


def test_a_class_without_a_training_node_is_a_class(fill: Callable[..., Custom]) -> None:
    graph = fill({}).load()
    assert graph.classes == 2
    assert graph.labels[graph.train].tolist() == [0]


def test_fractions_are_drawn_from_the_labelled_nodes(fill: Callable[..., Custom]) -> None:
    rows = [f"n{i},{'' if i % 2 else i % 4},{i}" for i in range(40)]
    nodes = "\n".join(["id,label,x", *rows])
    one, again, other = (
        fill({"nodes.csv": nodes, "edges.csv": "n1,n2\n"}, split_seed=seed).load() for seed in (1, 1, 2)
    )
    assert [len(one.nodes_of(split)) for split in SPLITS] == [12, 4, 4]
    assert sorted(np.concatenate([one.nodes_of(split) for split in SPLITS])) == list(range(0, 40, 2))
    assert (one.train == again.train).all()
    assert (one.train != other.train).any()


def test_the_numbers_of_pandas_with_gaps_are_whole(fill: Callable[..., Custom]) -> None:
    graph = fill({"nodes.csv": "id,label,split,x\na,10.0,train,1\nb,,,2\nc,2.0,test,3\nd,-1.0,,1\n"}).load()
    assert graph.labels.tolist() == [1, -1, 0, -1]


class Payload:
    """Unpickled, it would write a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


def test_nothing_is_ever_unpickled(fill: Callable[..., Custom], tmp_path: Path) -> None:
    import torch

    trap = tmp_path / "trap"
    dataset, payload = fill({}), np.array([Payload(trap)] * 3, dtype=object)
    np.save(tmp_path / "features.npy", payload, allow_pickle=True)
    with pytest.raises(SignError, match=r"features.npy: cannot be read as a numpy array"):
        dataset.load()
    (tmp_path / "features.npy").unlink()
    np.savez(tmp_path / "features.npz", format="csr", data=payload, indices=[0], indptr=[0, 1], shape=(3, 1))
    with pytest.raises(SignError, match=r"features.npz: cannot be read as a sparse matrix"):
        dataset.load()
    for content in (Payload(trap), {"x": Payload(trap)}):
        torch.save(content, tmp_path / "data.pt")
        with pytest.raises(SignError, match=r"data.pt: cannot be read as a Data object of PyG"):
            Custom(path=str(tmp_path / "data.pt")).load()
    assert not trap.exists()


def test_a_sparse_matrix_with_indices_beyond_its_shape(fill: Callable[..., Custom], tmp_path: Path) -> None:
    dataset = fill({})
    for form in ("csr", "csc", "coo"):
        arrays = {"data": np.ones(3), "indices": [0, 1, 10**6], "indptr": [0, 1, 2, 3], "shape": (3, 3)}
        arrays |= {"row": [0, 1, 2], "col": [0, 1, 10**6]}
        np.savez(tmp_path / "features.npz", format=form, **arrays)
        with pytest.raises(SignError, match=r"features.npz: cannot be read as a sparse matrix"):
            dataset.load()


def test_sparse_features_stay_sparse(fill: Callable[..., Custom], tmp_path: Path) -> None:
    dataset = fill({})
    rows, columns, values = [2, 0, 2, 2], [5000, 1, 5000, 0], [1.5, 2.0, 1.0, -1.0]  # one place twice
    coo = scipy.sparse.coo_array((values, (rows, columns)), shape=(3, 6000))
    unsorted = scipy.sparse.csr_array(([*values[1:], 1.5], [1, 5000, 0, 5000], [0, 1, 1, 4]), shape=(3, 6000))
    graphs = []
    for matrix in (coo, unsorted, coo.tocsc()):
        scipy.sparse.save_npz(tmp_path / "features.npz", matrix)
        graphs.append(dataset.load())
        assert isinstance(graphs[-1].features, SparseFeatures)
        assert (graphs[-1].features[:] == coo.toarray()).all()
    assert len({graph.features_digest for graph in graphs}) == 1
    coo.data[0] = np.nan
    scipy.sparse.save_npz(tmp_path / "features.npz", coo)
    with pytest.raises(SignError, match="feature 5000 of node `c` is nan; fill missing values"):
        dataset.load()


def test_a_data_of_pyg(tmp_path: Path) -> None:
    import torch
    from torch_geometric.data import Data

    file = tmp_path / "data.pt"
    data = Data(
        x=torch.eye(4),
        edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]),
        y=torch.tensor([0, 1, 1, 0]),
        train_mask=torch.tensor([True, True, False, False]),
        test_mask=torch.tensor([False, False, True, False]),
    )
    torch.save(data, file)
    allowed = torch.serialization.get_safe_globals()
    Truth(
        None,
        [(0, 1), (1, 2), (2, 3)],
        None,
        np.eye(4, dtype=np.float32),
        ["0", "1", "1", "0"],
        ["train", "train", "test", ""],
        directed=False,
    ).check(Custom(path=str(file)).load())
    assert set(torch.serialization.get_safe_globals()) == set(allowed), "PyG cannot read its own files any more"
    for change, message in (
        ({"y": None}, "has no y; a graph needs edge_index and y"),
        ({"x": torch.eye(3)}, "4 rows for 3 nodes"),
        ({"edge_index": torch.zeros(3, 2)}, "edge_index has shape"),
        ({"train_mask": torch.ones(4, 2) > 0}, "train_mask has shape"),
        ({"x": "text"}, "cannot be read as a Data object"),
        ({"x": None}, "there are no features; looked for x; add them, or set dataset.generate_features=degree"),
    ):
        torch.save(data.clone().update(change), file)
        with pytest.raises(SignError, match=message):
            Custom(path=str(file)).load()
    torch.save({"x": torch.eye(3)}, file)
    with pytest.raises(SignError, match="contains a dict; save a Data object of PyG"):
        Custom(path=str(file)).load()


@pytest.mark.slow
def test_the_example_is_learned_and_its_names_are_kept(
    configured: Callable[..., Settings], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import torch

    caplog.set_level("INFO", "sign")
    metrics = run(configured("dataset=custom", f"dataset.path={EXAMPLE}", "training.max_epochs=30"))
    assert "60 nodes, 150 edges, 4 features, 3 classes; 24 train, 12 val, 21 test" in caplog.text
    assert metrics["test/accuracy"] > 0.7
    (done,) = find_runs([tmp_path / "output" / "graph"])
    assert done.description["dataset"] == "graph"
    assert done.description["class_names"] == CLASSES
    saved = torch.load(done.last_checkpoint, weights_only=True)
    assert saved["hyper_parameters"]["class_names"] == CLASSES


def test_columns_of_parquet(fill: Callable[..., Custom], tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "id": pa.array(["a", "b", "c"]).dictionary_encode(),
        "label": pa.array([2.0, None, 5.0]),
        "split": pa.array(["train", None, "valid"], pa.large_string()),
        "x": pa.array([1, 2, 3], pa.uint8()),
        "z": pa.array([True, False, True]),
    }
    dataset = fill({"nodes.csv": None})
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    graph = dataset.load()
    assert graph.labels.tolist() == [0, -1, 1]
    assert graph.val.tolist() == [2]
    assert graph.features.tolist() == [[1, 1], [2, 0], [3, 1]]
    for changed, message in (
        ({"when": pa.array([1, 2, 3], pa.date32())}, r"column when: contains date32\[day\]; it must be numbers"),
        ({"__index_level_0__": [0, 1, 2]}, "write the table without its index"),
        ({"id": [0.0, 1.0, 2.0]}, "column id: contains double; ids must be integers or text"),
        ({"label": [0.5, 1, 1]}, "column label: not every cell is an integer"),
    ):
        pyarrow.parquet.write_table(pa.table(columns | changed), tmp_path / "nodes.parquet")
        with pytest.raises(SignError, match=message):
            dataset.load()
