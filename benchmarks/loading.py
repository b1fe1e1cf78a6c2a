"""Large raw files in little memory: ``python benchmarks/loading.py``.

Writes ``--size`` of files in the layout of ogbn-papers100M to a temporary folder and loads them twice under a memory
budget, each time in a new process: the first converts the .npz files to .npy files, the second maps those. Prints
seconds and the peak resident size of each.
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy

from sign.datasets.ogb import OGB
from sign.system import memory

FEATURES, DEGREE, LABELLED = 128, 14.55, 0.01393  # of ogbn-papers100M
ROWS = 1 << 16


def write(folder: Path, size: int, compressed: bool) -> int:
    """Write files of about ``size`` bytes before compression; return the number of nodes."""
    nodes = int(size / (FEATURES * 4 + DEGREE * 16))
    edges = int(nodes * DEGREE)
    rng = np.random.default_rng(0)

    def blocks(rows: int, width: int) -> Iterator[np.ndarray]:
        for start in range(0, rows, ROWS):
            yield rng.standard_normal((min(ROWS, rows - start), width), np.float32)

    def ends() -> Iterator[np.ndarray]:
        for start in range(0, 2 * edges, ROWS):
            yield rng.integers(0, nodes, min(ROWS, 2 * edges - start))

    def labels() -> Iterator[np.ndarray]:
        for start in range(0, nodes, ROWS):
            yield rng.integers(0, 172, min(ROWS, nodes - start)).astype(np.float32)

    raw, split = folder / "raw", folder / "split" / "time"
    raw.mkdir(parents=True)
    split.mkdir(parents=True)
    kind = ZIP_DEFLATED if compressed else ZIP_STORED
    members = {
        "edge_index": ((2, edges), np.int64, ends()),
        "node_feat": ((nodes, FEATURES), np.float32, blocks(nodes, FEATURES)),
        "num_nodes_list": ((1,), np.int64, iter([np.array([nodes])])),
    }
    for file, content in (
        ("data.npz", members),
        ("node-label.npz", {"node_label": ((nodes, 1), np.float32, labels())}),
    ):
        with ZipFile(raw / file, "w", kind, compresslevel=1) as archive:
            for name, (shape, dtype, parts) in content.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                    descr = npy.dtype_to_descr(np.dtype(dtype))
                    npy.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
                    for part in parts:
                        stream.write(part.tobytes())
    used = rng.permutation(nodes)[: int(LABELLED * nodes)]
    cuts = [int(0.78 * len(used)), int(0.86 * len(used))]
    for name, part in zip(("train", "valid", "test"), np.split(used, cuts), strict=True):
        (split / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(map(str, np.sort(part))).encode()))
    return nodes


def load(data_dir: Path, budget: int) -> None:
    """Load the files within the budget; runs in a process of its own."""
    started = time.perf_counter()
    with memory.limit(budget, data_dir / "scratch"):
        graph = OGB(name="papers", graph="papers100M", data_dir=str(data_dir), directed=True, check=False).load()
        seconds = time.perf_counter() - started
    print(
        f"{graph.nodes:,} nodes, {graph.adjacency.entries:,} edges: {seconds:.1f} s, "
        f"peak resident size {memory.format_size(memory.peak())} of {memory.format_size(budget)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="2GB", help="size of the arrays in the raw files")
    parser.add_argument("--budget", default="500MB", help="memory budget")
    parser.add_argument("--compressed", action="store_true", help="deflate the .npz files")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size, budget = memory.parse_size(options.size), memory.parse_size(options.budget)
    if size is None or budget is None:
        parser.error("sizes must be like 500MB or 2GB")
    if options.load:
        load(options.load, budget)
        return
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        write(Path(folder) / "ogbn_papers100M", size, options.compressed)
        files = sum(file.stat().st_size for file in Path(folder).rglob("*.npz"))
        print(f"{memory.format_size(files)} of .npz files written in {time.perf_counter() - started:.1f} s")
        for stage in ("converted", "mapped"):
            print(f"{stage}: ", end="", flush=True)
            subprocess.run([sys.executable, __file__, "--load", folder, "--budget", options.budget], check=True)


if __name__ == "__main__":
    main()
