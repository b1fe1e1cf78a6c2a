"""The page in a real browser: it shows what the runs hold, filtered and sorted as its address says."""

import json
from pathlib import Path

import numpy as np
import pytest
from common.browser import View, look
from common.run_folders import make_run, make_study

from sign.report.write import Report

HAND = """
const sort = () => document.querySelector('[data-sort="results:mean"]');
sort().focus();
sort().click();
sort().click();
document.querySelector("#curves .legend button").click();
const svg = document.querySelector("#results svg");
const dot = svg.querySelector(".seed").getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", { clientX: dot.x + 3, clientY: dot.y + 3 }));
"""
EVIL = "<script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two data sets, three models, a search, an unfinished and a damaged run."""
    folder = tmp_path_factory.mktemp("report")
    runs = folder / "outputs"
    for seed in (0, 1, 2):
        make_run(runs / f"sign-{seed}", seed=seed, score=0.51, experiment="flickr_sign_401")
        make_run(runs / f"sgcn-{seed}", model="S-GCN", seed=seed, score=0.49, experiment="flickr_sgcn")
    make_run(runs / "evil", dataset=EVIL, model='"><img src=x onerror=alert(1)>', score=0.7)
    make_run(runs / "cut", dataset="cora", model="MLP", finished=False)
    (runs / "broken").mkdir()
    (runs / "broken" / "run.json").write_text("{")
    make_study(runs / "flickr" / "sign" / "search-one")
    make_run(runs / "flickr" / "sign" / "search-one" / "trial-0000", job_type="search", learning_rate=0.5)
    return Report.read([runs]).write(folder / "report")


@pytest.fixture(scope="module")
def whole(page: Path) -> View:
    return look(page, page.parent, "theme=light", (1400, 5000))


def test_the_page_shows_the_numbers_of_the_runs(page: Path, whole: View) -> None:
    assert whole.console == []
    head, *rows = whole.tables["table-results"]
    found = {(row[0], row[1]): dict(zip(head, row, strict=True)) for row in rows}
    values = [
        json.loads((page.parents[1] / "outputs" / f"sign-{seed}" / "metrics.json").read_text())[
            "test/accuracy"
        ]
        for seed in (0, 1, 2)
    ]
    ours = found["flickr", "SIGN(4,0,1)"]
    assert ours["ours"] == f"{np.mean(values):.4f} ± {np.std(values):.4f}"
    assert ours["paper"] == "0.514 ± 0.001"
    assert ours["difference"] == f"{np.mean(values) - 0.514:+.4f}".replace("-", "−")
    assert len(rows) == 3  # trials and what is not finished are not among the results
    assert len(whole.tables["table-runs"]) == 1 + 9
    assert {"results", "curves", "time", "costs", "hops", "study-0", "runs", "configuration"} <= whole.ids
    assert whole.tags.count("path") > 20


def test_what_cannot_be_shown_is_listed_with_the_reason(whole: View) -> None:
    reasons = dict(whole.tables["table-problems"][1:])
    assert any(name.endswith("cut") and "not finished: 30 epochs" in why for name, why in reasons.items())
    assert any(name.endswith("broken") and "cannot be read" in why for name, why in reasons.items())


def test_names_are_text_and_nothing_is_fetched(page: Path, whole: View) -> None:
    assert EVIL in [row[0] for row in whole.tables["table-results"]]
    assert "img" not in whole.tags
    assert whole.outside == []
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_the_address_filters_sorts_and_opens(page: Path) -> None:
    view = look(
        page, page.parent, "dataset=flickr&sort.results=mean,asc&open=7&metric=train%2Floss&theme=dark"
    )
    assert view.console == []
    assert [row[1] for row in view.tables["table-results"][1:]] == ["S-GCN", "SIGN(4,0,1)"]
    assert {row[0] for row in view.tables["table-runs"][1:]} == {"flickr"}
    assert "7 of 9 runs" in view.text
    opened = dict(view.tables[""])  # settings of the run that is opened
    assert opened["training.batch_size"] == "1024"
    light, dark = (
        _shade(look(page, page.parent, "theme=light", (420, 900)).screenshot),
        _shade(view.screenshot),
    )
    assert light > 0.8
    assert dark < 0.3


def test_a_hand_sorts_hides_and_points(page: Path) -> None:
    """The same page with a script at its end that does what a reader does."""
    touched = page.with_name("touched.html")
    touched.write_text(page.read_text() + f"<script>{HAND}</script>")
    view = look(touched, page.parent, "dataset=flickr")
    assert view.console == []
    means = [float(row[2].split()[0]) for row in view.tables["table-results"][1:]]
    assert means == sorted(means)
    assert "seed " in view.tip
    assert view.pressed.count("false") == 2  # the group is hidden in both figures
    assert "4 of 7 runs" in view.text


def test_neither_look_is_blank(whole: View) -> None:
    from matplotlib.image import imread

    picture = imread(whole.screenshot)
    assert picture.shape[:2] == (5000, 1400)
    colours = (picture[..., :3] * 255).astype(np.int64) @ (1, 256, 65536)
    for part in np.array_split(colours[:4000], 4):  # each stretch of the page has something on it
        assert len(np.unique(part)) > 50


def _shade(image: Path) -> float:
    from matplotlib.image import imread

    return float(imread(image)[..., :3].mean())
