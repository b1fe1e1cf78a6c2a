"""The paper's figures: triangle weights within neighbourhoods, and validation accuracy against seconds."""

import io
import logging
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.reproduction.experiments import cell_plan
from sign.reproduction.paper_tables import LOOKALIKE_NOTE, ExperimentResult
from sign.reproduction.request import Request
from sign.runs import Series
from sign.system.atomic_files import write_bytes, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger(__name__)
TRIANGLES = {  # one experiment per data set; that of PPI keeps self-loops, as in the appendix
    "Flickr": "flickr_sign_401",
    "Reddit": "reddit_sign_201",
    "PPI": "ppi_sign_201",
    "Yelp": "yelp_sign_201",
}
CONVERGENCE = {  # the paper's text has both systems and several configurations of SIGN: those of its table
    "ClusterGCN": "products_clustergcn",
    "GraphSAINT": "products_graphsaint",
    "SIGN(3,0,0)": "products_sign_300",
    "SIGN(3,0,1)": "products_sign_301",
    "SIGN(3,3,0)": "products_sign_330",
    "SIGN(5,0,0)": "products_sign_500",
    "SIGN(5,3,0)": "products_sign_530",
}
DEBIAN = {  # where ogbn-products is unavailable
    "ClusterGCN": "debian_timing_clustergcn",
    "GraphSAINT": "debian_timing_graphsaint",
    **{f"SIGN-{power}": f"debian_timing_{power}" for power in (2, 4, 6, 8)},
}
DEBIAN_CHANGES = ("training.max_epochs=20", "runs=1")  # more epochs than for timing; only the first run is drawn
Curve = list[tuple[float, float]]


def triangles(request: Request) -> Path | None:
    """Draw the data sets that are available; log why the others are not."""
    from sign.reproduction.triangle_figure import triangle_deviations, triangle_figure

    panels = []
    for title, dataset, keep_self_loops in _triangle_panels(request):
        try:
            panels.append((title, triangle_deviations(dataset.load(), keep_self_loops)))
        except (SignError, OSError) as error:
            log.info("%s: left out: %s", title, error)
    if not panels:
        log.info("figure=triangles: none of its data sets is available; nothing is drawn")
        return None
    return _save(triangle_figure(panels), "triangles", request)


def _triangle_panels(request: Request) -> Iterator[tuple[str, Dataset, bool]]:
    """Title, data set, and whether self-loops count: of the data sets of the request, or of the paper's."""
    for dataset in request.datasets:
        yield dataset.name, dataset, dataset.name == "ppi"
    for title, experiment in () if request.datasets else TRIANGLES.items():
        first = cell_plan(experiment, request).first
        keep_self_loops = bool(getattr(first.powers["t"][0], "keep_self_loops", False))
        yield f"{title}{'-like' if request.smoke else ''}", first.dataset, keep_self_loops


def convergence(request: Request, train: Callable[..., ExperimentResult]) -> Path | None:
    """Draw validation accuracy against seconds of training, one line per system."""
    dataset, results = "ogbn-products", {title: train(experiment) for title, experiment in CONVERGENCE.items()}
    if all(result.unavailable for result in results.values()):
        log.info("figure=convergence: ogbn-products is unavailable; drawn for Debian instead")
        dataset = "Debian (sections)"
        results = {title: train(experiment, *DEBIAN_CHANGES) for title, experiment in DEBIAN.items()}
    series = {}
    for title, result in results.items():
        if result.series and result.series.seeds:
            series[title] = result.series
        else:
            log.info("%s: left out: %s", title, result.reason)
    if not series:
        log.info("figure=convergence: nothing could be trained; nothing is drawn")
        return None
    curves = {title: curve(each) for title, each in series.items()}
    seconds = {title: float(each.metrics["seconds/precompute"]["mean"]) for title, each in series.items()}
    suffix = " (a look-alike)" if request.smoke else ""
    file = _save(convergence_figure(curves, seconds, f"{dataset}{suffix}"), "convergence", request)
    content = {"look_alike": request.smoke, "dataset": dataset, "preprocessing": seconds, "curves": curves}
    write_json(file.with_suffix(".json"), content)
    return file


def curve(series: Series) -> Curve:
    """Seconds of training (without evaluation) and validation accuracy after each epoch of the first run."""
    epochs = series.runs[0].epochs()
    seconds = accumulate(row["seconds/epoch"] for row in epochs)
    return [(elapsed, row["val/accuracy"]) for elapsed, row in zip(seconds, epochs, strict=True)]


def convergence_figure(curves: dict[str, Curve], preprocessing: dict[str, float], dataset: str) -> "Figure":
    """All curves on one pair of axes, from the start of training, as in the paper; the legend has the preprocessing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for title, points in curves.items():
        label = f"{title} (preprocessing {preprocessing[title]:.3g} s)"
        axes.plot(*zip(*points, strict=True), label=label, linewidth=1.4)
    axes.set(xlabel="seconds of training, without preprocessing and evaluation", ylabel="validation accuracy")
    axes.set_title(f"Convergence on {dataset}", fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _save(figure: "Figure", name: str, request: Request) -> Path:
    """Write a PNG file atomically."""
    request.folder.mkdir(parents=True, exist_ok=True)
    file = request.folder / f"{name}.png"
    if request.smoke:
        figure.supxlabel(LOOKALIKE_NOTE, fontsize=7)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=150)
    write_bytes(file, image.getvalue())
    return file
