"""Published statistics of data sets, and the check that files match them."""

from typing import NamedTuple

from sign.errors import SignError
from sign.graph.csr import Array

Split = tuple[float, ...]  # train, val, test
TOLERANCE = 0.01  # of a split: fractions are published as whole percentages


class Statistics(NamedTuple):
    """A row of a table of data sets. ``twice``: an edge of an undirected graph counts in both directions.

    ``labelled`` is the fraction of nodes that are in a split; ``files_split`` is the split of the files where it
    differs from the published one.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    split: Split = ()
    files_split: Split = ()
    multilabel: bool = False
    directed: bool = False
    labelled: float = 1.0
    twice: bool = False

    @property
    def edges_once(self) -> int:
        """Edges, each counted once."""
        return self.edges // 2 if self.twice else self.edges

    def __str__(self) -> str:
        text = f"{self.nodes:,} nodes, {self.edges:,} edges, {self.features:,} features, {self.classes} classes"
        if self.split:
            text += f", {' / '.join(f'{100 * fraction:.0f}' for fraction in self.split)} % in the splits"
        return text


PUBLISHED = {
    # the paper's table
    "wikipedia": Statistics(12_150_976, 378_142_420, 100, 2, (0.50, 0.25, 0.25)),
    "ogbn-papers100M": Statistics(
        111_059_956, 1_615_685_872, 128, 172, (0.78, 0.08, 0.14), directed=True, labelled=0.01393
    ),
    "ogbn-products": Statistics(2_449_029, 61_859_140, 100, 47, (0.10, 0.02, 0.88), files_split=(0.08, 0.02, 0.90)),
    "reddit": Statistics(232_965, 11_606_919, 602, 41, (0.66, 0.10, 0.24)),
    "yelp": Statistics(
        716_847, 6_977_410, 300, 100, (0.75, 0.10, 0.15), files_split=(0.75, 0.15, 0.10), multilabel=True
    ),
    "flickr": Statistics(89_250, 899_756, 500, 7, (0.50, 0.25, 0.25), twice=True),
    "ppi": Statistics(14_755, 225_270, 50, 121, (0.66, 0.12, 0.22), multilabel=True),
    # OGB's table
    "ogbn-arxiv": Statistics(169_343, 1_166_243, 128, 40, (0.54, 0.18, 0.29), directed=True),
    # PyG's table of Planetoid, counted without self-loops
    "planetoid-cora": Statistics(2_708, 5_278, 1_433, 7),
    "planetoid-citeseer": Statistics(3_327, 4_552, 3_703, 6),
    "planetoid-pubmed": Statistics(19_717, 44_324, 500, 3),
    # Shchur et al. 2018, counted without self-loops; the splits are drawn
    "computers": Statistics(13_752, 245_861, 767, 10),
    "photo": Statistics(7_650, 119_081, 745, 8),
    "cs": Statistics(18_333, 81_894, 6_805, 15),
    "physics": Statistics(34_493, 247_962, 8_415, 5),
}


def check_statistics(name: str, published: Statistics, actual: Statistics) -> None:
    """Raise :class:`SignError` if the files are not the published data set."""
    same = actual[:4] == published[:4]
    if actual.split and published.split:
        allowed = (published.split, published.files_split or published.split)
        same &= any(all(abs(a - b) <= TOLERANCE for a, b in zip(actual.split, split, strict=True)) for split in allowed)
    if not same:
        raise SignError(
            f"{name}: the files have {actual}, the published data set has {published}; "
            "download them again, or set dataset.check=false to use them as they are"
        )


def split_fractions(*splits: Array) -> Split:
    """Return the fraction of each split in the union of all."""
    total = max(1, sum(len(split) for split in splits))
    return tuple(len(split) / total for split in splits)
