"""DGL's samplers, for benchmarks/samplers.py: reads names of samplers, and answers edges per second or null."""

import json
import sys
import time

import dgl
import numpy as np
import torch


def main() -> None:
    arrays, constants = np.load(sys.argv[1]), json.loads(sys.argv[2])
    indptr, indices = (torch.from_numpy(arrays[name].astype(np.int64)) for name in ("indptr", "indices"))
    # rows aggregate from their columns: an edge of DGL leads from the column to the row
    graph = dgl.graph(("csc", (indptr, indices, torch.empty(0, dtype=torch.int64))), num_nodes=len(indptr) - 1)
    graph = graph.formats(["csc", "csr", "coo"])
    graph.create_formats_()
    batch, batches = min(constants["BATCH"], graph.num_nodes()), constants["BATCHES"]
    clusters = torch.from_numpy(arrays["clusters"])
    count = int(clusters.max()) + 1

    def targets() -> torch.Tensor:
        return torch.randperm(graph.num_nodes())[:batch]

    def neighbour(fanouts: list[int]):
        sampler = dgl.dataloading.NeighborSampler(fanouts[::-1])
        return lambda: sum(block.num_edges() for block in sampler.sample(graph, targets())[2])

    def saint(mode: str, budget):
        sampler = dgl.dataloading.SAINTSampler(mode=mode, budget=budget)
        return lambda: sampler.sample(graph, 0).num_edges()

    def cluster() -> int:
        chosen = torch.zeros(count, dtype=torch.bool)
        chosen[torch.randperm(count)[: constants["CLUSTERS_PER_BATCH"]]] = True
        return dgl.node_subgraph(graph, torch.nonzero(chosen[clusters]).ravel()).num_edges()

    def node2vec() -> int:
        steps = constants["WALK"] - 1
        return dgl.sampling.node2vec_random_walk(graph, targets(), constants["P"], constants["Q"], steps)[:, 1:].numel()

    samplers = {
        "neighbour": neighbour(constants["FANOUTS"]),
        "cluster": cluster,
        "saint-node": saint("node", constants["NODES_DRAWN"]),
        "saint-edge": saint("edge", constants["EDGES_DRAWN"]),
        "saint-walk": saint("walk", (constants["ROOTS"], constants["LENGTH"])),
        "node2vec": node2vec,
    }
    for line in sys.stdin:
        sample = samplers.get(line.strip())
        if sample is None:
            print("null", flush=True)
            continue
        sample()  # creates what is cached
        started, edges = time.perf_counter(), 0
        for _ in range(batches):
            edges += sample()
            if time.perf_counter() - started > constants["PATIENCE"]:
                break
        print(edges / (time.perf_counter() - started), flush=True)


if __name__ == "__main__":
    main()
