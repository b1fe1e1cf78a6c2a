"""Cora, a citation graph that is part of the package."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.sampling import split_per_class
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.validation import Count, Seed

SUBJECTS, VOCABULARY = 7, 1433


@dataclass(frozen=True, kw_only=True)
class Cora(Dataset):
    """2,708 papers, 5,429 citations, 1,433 binary words, 7 subjects (McCallum et al. 2000).

    ``directed=false`` ignores the direction of citations: 5,278 edges of weight one. With ``directed=true`` an edge
    points from the citing to the cited paper.
    """

    name: str = "cora"
    split_seed: Seed = 0
    train_per_class: Count = 20
    val_per_class: Count = 30
    directed: bool = False

    def load(self) -> Graph:
        """Read the packaged file and draw the split."""
        file = files("sign.datasets") / "files" / "cora.npz"
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as raw:
            labels = raw["subject"].astype(np.int64)
            words, counts = raw["words"], raw["words_per_paper"]
            source, target = raw["citing"].astype(np.int64), raw["cited"].astype(np.int64)
        papers = len(labels)
        features = np.zeros((papers, VOCABULARY), np.float32)
        features[np.repeat(np.arange(papers), counts), words] = 1
        adjacency = CSR.from_edges(source, target, papers, both=not self.directed)
        splits = split_per_class(labels, SUBJECTS, self.train_per_class, self.val_per_class, self.split_seed)
        return Graph(self.name, adjacency, features, labels, SUBJECTS, *splits, self.directed, self.inductive)
