"""Hops and predictions of a graph that has changed: ``python benchmarks/changes.py``.

A ``communities`` graph of 200,000 nodes is trained on and scored. Then 1 % of new nodes arrive with their edges, and
then ten edges change. Each version is scored with the hops of the one before in the store, where only rows that can
have changed are computed, and with an empty store. Seconds of both, their ratio, the share of rows that was computed,
and whether the predictions and hops are the same bits.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf

from sign.config.configure import compose, configure
from sign.config.trained import trained_settings
from sign.datasets.synthetic.communities import Communities
from sign.experiments.run import run
from sign.graph.csr import CSR
from sign.graph.csr_transforms import induced_subgraph
from sign.graph.graph import SPLITS, Graph
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict, select_rows
from sign.prediction.settings import Prediction
from sign.system.console import console


def first_nodes(graph: Graph, nodes: int) -> Graph:
    """The graph without the nodes after the first ones."""
    splits = {split: graph.nodes_of(split)[graph.nodes_of(split) < nodes] for split in SPLITS}
    adjacency = induced_subgraph(graph.adjacency, np.arange(nodes))
    return replace(graph, adjacency=adjacency, features=graph.features[:nodes], labels=graph.labels[:nodes], **splits)


def with_other_edges(graph: Graph, count: int) -> Graph:
    """The graph with some of its edges replaced by others."""
    rng = np.random.default_rng(0)
    source, target = graph.adjacency.row_indices(), graph.adjacency.indices.copy()
    once = np.flatnonzero(source < target)
    chosen = rng.choice(once, count, replace=False)
    target[chosen] = rng.integers(0, graph.nodes, count)
    return replace(graph, adjacency=CSR.from_edges(source[once], target[once], graph.nodes, both=True))


def write(folder: Path, graph: Graph) -> Path:
    """Write a graph in the layout of ``dataset=custom``."""
    folder.mkdir()
    np.save(folder / "edges.npy", np.stack([graph.adjacency.row_indices(), graph.adjacency.indices]))
    np.save(folder / "features.npy", graph.features)
    np.save(folder / "labels.npy", graph.labels)
    for split in SPLITS:
        np.save(folder / f"{split}.npy", graph.nodes_of(split))
    return folder


def score(run_folder: Path, graph: Path, store: Path, output: Path) -> tuple[float, str, list[np.ndarray]]:
    """Score all nodes; return the seconds, the share of rows that was computed, and the hops."""
    changes = {"dataset": {"path": str(graph)}, "paths": {"store_dir": str(store)}}
    settings, model = trained_settings(run_folder, OmegaConf.create(changes)), TrainedModel.load(run_folder)
    began = time.perf_counter()
    _, rows = select_rows(settings, model, "all")
    hops = rows.hops
    predict(settings, model, Prediction(run=str(run_folder), output=str(output), probabilities="all"))
    share = hops.rows_computed / max(1, hops.rows_computed + hops.rows_saved)
    return time.perf_counter() - began, f"{share:.2%}", next(iter(hops.arrays.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--model", nargs="*", default=["model.p=2", "model.t=1"], help="settings of the model")
    asked = parser.parse_args()
    console.quiet = True
    new = asked.nodes + asked.nodes // 100
    grown = Communities(nodes=new, edges=5 * new, features=asked.features).load()
    old = first_nodes(grown, asked.nodes)
    changed = with_other_edges(grown, 10)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        versions = {"old": old, "grown": grown, "changed": changed}
        paths = {version: write(folder / version, graph) for version, graph in versions.items()}
        folders = [f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")]
        small = ["training.max_epochs=3", "logger=csv", "dataset=custom", f"dataset.path={paths['old']}"]
        overrides = [*small, *asked.model, *folders]
        settings = configure(compose(*overrides), overrides)
        run(settings)
        (run_folder,) = settings.output_dir.glob("*/*/*")
        score(run_folder, paths["old"], folder / "store", folder / "old.npy")
        for version, what in (("grown", f"{asked.nodes // 100:,} new nodes"), ("changed", "ten changed edges")):
            parts = [
                score(run_folder, paths[version], folder / store, folder / f"{store}.npy")
                for store in ("store", f"empty-{version}")
            ]
            (ours, share, hops), (full, _, expected) = parts
            scores = [np.load(folder / f"{store}.npy") for store in ("store", f"empty-{version}")]
            same = np.array_equal(*scores) and all(map(np.array_equal, hops, expected))
            accuracy = np.mean(scores[0].argmax(1)[asked.nodes :] == grown.labels[asked.nodes :])
            print(
                f"{what}: {share} of the rows computed, {ours:.1f} s against {full:.1f} s ({full / ours:.1f} times), "
                f"same bits: {'yes' if same else 'NO'}, accuracy on the new nodes {accuracy:.3f}"
            )


if __name__ == "__main__":
    main()
