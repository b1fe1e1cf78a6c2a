"""Rows per second of predictions: ``python benchmarks/prediction.py``.

A trained SIGN(3,3,3) with 256 units and 172 classes scores all nodes of a ``communities`` graph with 128 features: it
reads ten hops from the store, and the most probable class of each row is kept. Our way, as ``src/predict.py`` scores,
takes turns with a plain PyTorch loop over the same network (in eval mode) and memory maps of the same hops. Median rows
per second, in float32 and bfloat16, and the ratio of both; the same of the whole of ``predict``, which also loads the
graph and writes the file; the share of nodes on which bfloat16 agrees. The paper reports 63,000 rows per
second on a K80.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.experiments.run import run
from sign.prediction.model import TrainedModel
from sign.prediction.predict import SELECTED, predict, select_rows
from sign.prediction.scoring import StoredRows, score_of, scores
from sign.prediction.settings import Prediction
from sign.system.console import console

BATCH = 8192


def settings_of(folder: Path, asked: argparse.Namespace) -> Settings:
    overrides = [
        "dataset=communities",
        f"dataset.nodes={asked.nodes}",
        f"dataset.edges={10 * asked.nodes}",
        "dataset.features=128",
        "dataset.classes=172",
        *(f"model.{letter}={asked.powers}" for letter in "pst"),
        "model.inception_units=256",
        "model.classification_units=256",
        "training.max_epochs=1",
        "training.batch_size=4096",
        "store.rows=all",
        *(f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")),
        "logger=csv",
    ]
    return configure(compose(*overrides), overrides)


def plain_loop(model: TrainedModel, hops: list[np.ndarray], dtype: torch.dtype) -> np.ndarray:
    """Predicted classes by a loop over batches of all hops."""
    network, classes = model.task.network.to(dtype).eval(), []
    with torch.inference_mode():
        for start in range(0, len(hops[0]), BATCH):
            rows = np.concatenate([hop[start : start + BATCH] for hop in hops], axis=1)
            classes.append(network(torch.from_numpy(rows).to(dtype)).argmax(1).numpy())
    network.float()
    return np.concatenate(classes)


def our_loop(model: TrainedModel, rows: StoredRows, precision: str) -> np.ndarray:
    """Predicted classes as the commands compute them."""
    return np.concatenate([values.argmax(1) for _, values in scores(rows, score_of(model, precision=precision))])


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--powers", type=int, default=3, help="p, s and t")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console.quiet = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = settings_of(folder, asked)
        run(settings)
        (run_folder,) = settings.output_dir.glob("communities/*/*")
        model = TrainedModel.load(run_folder)
        _, stored = select_rows(settings, model, "all")
        hops = stored.hops.arrays[SELECTED]
        print(f"{asked.nodes:,} nodes, {len(hops)} hops, {torch.get_num_threads()} threads")
        answers = {}
        for precision, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16)):
            output = str(folder / f"{precision}.npy")
            request = Prediction(run=str(run_folder), output=output, precision=precision)
            ours, plain, whole = [], [], []
            for _ in range(asked.rounds):
                ours.append(seconds(lambda precision=precision: our_loop(model, stored, precision)))
                plain.append(seconds(lambda dtype=dtype: plain_loop(model, hops, dtype)))
                whole.append(seconds(lambda request=request: predict(settings, model, request)))
            answers[precision] = np.load(output)
            assert (answers[precision] == our_loop(model, stored, precision)).all()
            assert (answers[precision] == plain_loop(model, hops, dtype)).mean() > 0.99
            mine, theirs, all_of_it = (asked.nodes / statistics.median(times) for times in (ours, plain, whole))
            print(
                f"{precision}: {mine:,.0f} rows/s, plain loop {theirs:,.0f} rows/s, ratio {mine / theirs:.2f}; "
                f"predict as a whole {all_of_it:,.0f} rows/s"
            )
        print(f"bf16 predicts the same class for {np.mean(answers['float32'] == answers['bf16']):.2%} of the nodes")


if __name__ == "__main__":
    main()
