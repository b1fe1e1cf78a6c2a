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
CONVERGENCE = {
    "SIGN(3,0,0)": "products_sign_300",
    "SIGN(3,0,1)": "products_sign_301",
    "SIGN(3,3,0)": "products_sign_330",
    "SIGN(5,0,0)": "products_sign_500",
    "SIGN(5,3,0)": "products_sign_530",
}
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


def convergence(request: Request, train: Callable[[str], ExperimentResult]) -> Path | None:
    """Draw validation accuracy against seconds of training, one line per configuration."""
    curves: dict[str, Curve] = {}
    for title, experiment in CONVERGENCE.items():
        result = train(experiment)
        if result.series and result.series.seeds:
            curves[title] = curve(result.series)
        else:
            log.info("%s: left out: %s", title, result.reason)
    if not curves:
        log.info("figure=convergence: nothing could be trained; nothing is drawn")
        return None
    file = _save(convergence_figure(curves, request.smoke), "convergence", request)
    write_json(file.with_suffix(".json"), {"look_alike": request.smoke, "curves": curves})
    return file


def curve(series: Series) -> Curve:
    """Seconds of training (without evaluation) and validation accuracy after each epoch of the first run."""
    epochs = series.runs[0].epochs()
    seconds = accumulate(row["seconds/epoch"] for row in epochs)
    return [(elapsed, row["val/accuracy"]) for elapsed, row in zip(seconds, epochs, strict=True)]


def convergence_figure(curves: dict[str, Curve], lookalike: bool) -> "Figure":
    """All curves on one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for title, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=title, linewidth=1.4)
    axes.set(xlabel="seconds of training", ylabel="validation accuracy")
    axes.set_title(f"Convergence on ogbn-products{' (a look-alike)' if lookalike else ''}", fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
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
