"""The paper's figures: triangle weights within neighbourhoods, and validation accuracy against seconds."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.reproduction.experiments import cell_plan
from sign.reproduction.request import Request
from sign.reproduction.tables import LOOK_ALIKE, Outcome
from sign.runs import Series
from sign.system.atomic_files import write_json
from sign.system.console import console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIANGLES = {  # an experiment of each data set: PPI's keeps self-loops, as in the appendix
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
    """Draw the data sets that are available; print why the others are not."""
    from sign.reproduction.triangle_figure import triangle_deviations, triangle_figure

    panels = []
    for title, dataset, keep_self_loops in _triangle_panels(request):
        try:
            panels.append((title, triangle_deviations(dataset.load(), keep_self_loops)))
        except (SignError, OSError) as error:
            console.print(f"{title}: left out: {error}", style="dim", soft_wrap=True)
    if not panels:
        console.print(
            "figure=triangles: none of its data sets is available; nothing is drawn", soft_wrap=True
        )
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


def convergence(request: Request, train: Callable[[str], Outcome]) -> Path | None:
    """Validation accuracy against the seconds of training, a line a configuration."""
    curves: dict[str, Curve] = {}
    for title, experiment in CONVERGENCE.items():
        outcome = train(experiment)
        if outcome.series and outcome.series.seeds:
            curves[title] = curve(outcome.series)
        else:
            console.print(f"{title}: left out: {outcome.reason}", style="dim", soft_wrap=True)
    if not curves:
        console.print("figure=convergence: nothing could be trained; nothing is drawn", soft_wrap=True)
        return None
    request.folder.mkdir(parents=True, exist_ok=True)
    write_json(request.folder / "convergence.json", {"look_alike": request.smoke, "curves": curves})
    return _save(convergence_figure(curves, request.smoke), "convergence", request)


def curve(series: Series) -> Curve:
    """Seconds of training so far and validation accuracy, of the first run; evaluation is not counted."""
    epochs = series.runs[0].epochs()
    seconds = accumulate(row["seconds/epoch"] for row in epochs)
    return [(at, row["val/accuracy"]) for at, row in zip(seconds, epochs, strict=True)]


def convergence_figure(curves: dict[str, Curve], look_alike: bool) -> "Figure":
    """All curves on one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for title, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=title, linewidth=1.4)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("validation accuracy")
    axes.set_title(f"Convergence on ogbn-products{' (a look-alike)' if look_alike else ''}", fontsize=11)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _save(figure: "Figure", name: str, request: Request) -> Path:
    """Write the picture, which has its name when it is whole."""
    request.folder.mkdir(parents=True, exist_ok=True)
    file = request.folder / f"{name}.png"
    if request.smoke:
        figure.supxlabel(LOOK_ALIKE, fontsize=7)
    temporary = file.with_suffix(".tmp.png")
    figure.savefig(temporary, dpi=150)
    return temporary.replace(file)
