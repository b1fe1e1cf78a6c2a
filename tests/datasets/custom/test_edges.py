"""Edges are read from tables with and without a header, and from arrays."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.custom.edges import read_edges
from sign.datasets.custom.node_ids import NodeIds
from sign.errors import SignError


@pytest.mark.parametrize("text", ["0,1,2\n1,2,3\n", "src,dst,weight\n0,1,2\n1,2,3\n", "weight,v,u\n2,1,0\n3,2,1\n"])
def test_columns_are_found_by_position_or_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    source, target, weights = read_edges(tmp_path / "edges.csv", NodeIds(3))
    assert (source.tolist(), target.tolist()) == ([0, 1], [1, 2])
    assert weights is not None
    assert weights.tolist() == [2, 3]


@pytest.mark.parametrize("transposed", [True, False])
def test_arrays_have_either_orientation(tmp_path: Path, transposed: bool) -> None:
    edges = np.array([[0, 1, 2], [1, 2, 0]])
    np.save(tmp_path / "edges.npy", edges.T if transposed else edges)
    source, target, weights = read_edges(tmp_path / "edges.npy", NodeIds(3))
    assert (source.tolist(), target.tolist(), weights) == ([0, 1, 2], [1, 2, 0], None)


def test_an_ambiguous_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "edges.npy", np.eye(2, dtype=np.int64))
    with pytest.raises(SignError, match="orientation of a 2 × 2 array is ambiguous"):
        read_edges(tmp_path / "edges.npy", NodeIds(3))
