"""What a step of each head costs, beside one of SIGN: ``python benchmarks/heads.py``.

A step is a batch forward and backward, and Adam's update: what an epoch consists of, on rows that are in memory. All
heads read the same hops. One column has SIGN's width (``--units``, of which SIGN's classifier has twice as many), the
other the widths of ``conf/model``. Numbers are processor time of one thread, which other programs hardly change; heads
take turns, and the ratio is the median over the rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch.nn.functional import cross_entropy

from sign.config.configure import compose, configure
from sign.models.architecture import Architecture

FEATURES, CLASSES = 100, 47  # of ogbn-products
HEADS: dict[str, list[str]] = {
    "sign": [],
    "sign, mean": ["model.aggregation=mean"],
    "sagn": [],
    "gamlp, jk": ["model.attention=jk"],
    "gamlp, recursive": ["model.attention=recursive"],
    "hoga": [],
    "hoga, 8 heads": ["model.heads=8"],
    "nagphormer": [],
    "nagphormer, no attention dropout": ["model.attention_dropout=0"],
    "gpr": [],
}
Step = Callable[[], None]


def architecture(head: str, units: int | None) -> Architecture:
    """The head with its defaults, or with as many units as SIGN's branches have."""
    model = head.partition(",")[0]
    width = [] if units is None else [f"model.inception_units={units}", f"model.classification_units={2 * units}"]
    if model != "sign" and units is not None:
        width = [f"model.units={units}"]
    overrides = ["dataset=communities", "tuned=null", f"model={model}", *HEADS[head], *width]
    return configure(compose(*overrides), overrides).architecture


def step_of(head: str, units: int | None, options: argparse.Namespace) -> tuple[Step, int]:
    """A training step of a head, and the number of its parameters."""
    torch.manual_seed(0)
    hops = {"X": FEATURES} | {f"p{power}": FEATURES for power in range(1, options.power + 1)}
    network = architecture(head, units).network(hops, CLASSES)
    optimizer = torch.optim.Adam(network.parameters())
    rows, labels = torch.randn(options.batch, sum(hops.values())), torch.randint(CLASSES, (options.batch,))

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        cross_entropy(network(rows), labels).backward()
        optimizer.step()

    return step, sum(parameter.numel() for parameter in network.parameters())


def ratios(steps: dict[str, Step], options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """The least seconds of each step, and the median of its times in relation to SIGN's of the same round."""
    seconds: dict[str, list[float]] = {head: [] for head in steps}
    for number in range(options.rounds + 1):
        for head, step in steps.items():
            started = time.process_time()
            for _ in range(options.steps):
                step()
            if number:  # the first round warms up
                seconds[head].append((time.process_time() - started) / options.steps)
    return {
        head: (min(own), statistics.median(a / b for a, b in zip(own, seconds["sign"], strict=True)))
        for head, own in seconds.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--power", type=int, default=3, help="of the only operator")
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=2, help="in a row")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--heads", nargs="+", default=[*HEADS], choices=[*HEADS])
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = dict.fromkeys(["sign", *options.heads])
    table = Table("head", title=f"{options.power + 1} hops, batches of {options.batch:,}", title_justify="left")
    columns = []
    for title, units in ((f"{options.units} units", options.units), ("own defaults", None)):
        built = {head: step_of(head, units, options) for head in names}
        columns.append((ratios({head: step for head, (step, _) in built.items()}, options), built))
        for column in (f"{title}:\nparameters", "ms per\nstep", "times\nSIGN's"):
            table.add_column(column, justify="right")
    for head in names:
        cells = [
            (f"{built[head][1]:,}", f"{1000 * measured[head][0]:.1f}", f"{measured[head][1]:.2f}")
            for measured, built in columns
        ]
        table.add_row(head, *(cell for group in cells for cell in group))
    Console().print(table)


if __name__ == "__main__":
    main()
