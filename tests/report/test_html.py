"""The page in a real browser: contents, filters and sorting by URL, interaction, light and dark theme."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from common.browser import View, look
from common.run_folders import add_classes, make_multilabel, make_run, make_study

from sign.report.write import Report

INTERACTION = """
const sort = () => document.querySelector('[data-sort="results:mean"]');
sort().focus();
sort().click();
sort().click();
document.querySelector("#curves .legend button").click();
const svg = document.querySelector("#results svg");
const dot = svg.querySelector(".seed").getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", { clientX: dot.x + 3, clientY: dot.y + 3 }));
"""
HIGHEST_ROW = """
const rows = [...document.querySelectorAll("#table-results tr, #table-runs tr")];
document.body.append(`highest row: ${Math.max(...rows.map((row) => row.offsetHeight))}`);
"""
pytestmark = pytest.mark.browser
MARKUP = "<script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two data sets, three models, a search, an unfinished and a damaged run."""
    folder = tmp_path_factory.mktemp("report")
    runs = folder / "outputs"
    for seed in (0, 1, 2):
        make_run(runs / f"sign-{seed}", seed=seed, score=0.51, experiment="flickr_sign_401")
        make_run(runs / f"sgcn-{seed}", model="S-GCN", seed=seed, score=0.49, experiment="flickr_sgcn")
    make_run(runs / "markup", dataset=MARKUP, model='"><img src=x onerror=alert(1)>', score=0.7)
    make_run(runs / "cut", dataset="cora", model="MLP", finished=False)
    (runs / "broken").mkdir()
    (runs / "broken" / "run.json").write_text("{")
    make_study(runs / "flickr" / "sign" / "search-one")
    make_run(runs / "flickr" / "sign" / "search-one" / "trial-0000", job_type="search", learning_rate=0.5)
    return Report.read([runs]).write(folder / "report")


@pytest.fixture(scope="module")
def light(page: Path) -> View:
    return look(page, page.parent, "theme=light", (1400, 5000))


def test_tables_show_the_metrics_of_the_runs(page: Path, light: View) -> None:
    assert light.console == []
    head, *rows = light.tables["table-results"]
    found = {(row[0], row[1]): dict(zip(head, row, strict=True)) for row in rows}
    values = [
        json.loads((page.parents[1] / "outputs" / f"sign-{seed}" / "metrics.json").read_text())["test/accuracy"]
        for seed in (0, 1, 2)
    ]
    ours = found["flickr", "SIGN(4,0,1)"]
    assert ours["ours"] == f"{np.mean(values):.4f} ± {np.std(values):.4f}"
    assert ours["paper"] == "0.514 ± 0.001"
    assert ours["difference"] == f"{np.mean(values) - 0.514:+.4f}".replace("-", "−")
    assert len(rows) == 3  # trials and what is not finished are not among the results
    assert len(light.tables["table-runs"]) == 1 + 9
    assert {"results", "curves", "time", "costs", "hops", "study-0", "runs", "configuration"} <= light.ids
    assert light.tags.count("path") > 20


def test_unreadable_folders_are_listed_with_the_reason(light: View) -> None:
    reasons = dict(light.tables["table-problems"][1:])
    assert any(name.endswith("cut") and "not finished: 30 epochs" in why for name, why in reasons.items())
    assert any(name.endswith("broken") and "cannot be read" in why for name, why in reasons.items())


def test_names_are_escaped_and_nothing_is_loaded_from_elsewhere(page: Path, light: View) -> None:
    assert MARKUP in [row[0] for row in light.tables["table-results"]]
    assert "img" not in light.tags
    assert light.outside == []
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_url_filters_sorts_and_opens_a_run(page: Path) -> None:
    view = look(page, page.parent, "dataset=flickr&sort.results=mean,asc&open=7&metric=train%2Floss")
    assert view.console == []
    assert [row[1] for row in view.tables["table-results"][1:]] == ["S-GCN", "SIGN(4,0,1)"]
    assert {row[0] for row in view.tables["table-runs"][1:]} == {"flickr"}
    assert "7 of 9 runs" in view.text
    opened = dict(view.tables[""])  # settings of the run that is opened
    assert opened["training.batch_size"] == "1024"


def test_metrics_and_brief_runs_have_panels_of_their_own_and_classes_a_heat_map(tmp_path: Path) -> None:
    runs = tmp_path / "outputs"
    make_run(runs / "a", "mine", "MLP", score=0.7)
    add_classes(runs / "a", ["cat", "dog <b>"])
    make_run(runs / "b", "mine", "SIGN(2,0,0)", score=0.1)
    make_multilabel(runs / "b")
    make_run(runs / "c", "mine", "SIGN(3,0,0)", score=0.3, epochs=1)
    make_run(runs / "d", "flickr-like", "S-GCN", score=0.9, experiment="flickr_sgcn")
    config = runs / "d" / "config.yaml"
    config.write_text(config.read_text().replace("name: flickr-like", "_target_: sign.datasets.synthetic.lookalike.X"))
    view = look(Report.read([runs]).write(tmp_path / "report"), tmp_path)
    assert view.console == []
    panels = ("mine · accuracy", "mine · micro-F1", "mine · accuracy · brief runs", "flickr-like · accuracy")
    for name in (*panels, "mine · val/accuracy", "mine · val/micro_f1"):
        assert name in view.panels
    assert "not drawn beside generated data" in view.text
    assert "no published number" not in view.text
    assert ["flickr-like", "0.502 ± 0.001 (generated data, not comparable)"] in [
        [row[0], row[4]] for row in view.tables["table-results"]
    ]
    assert [row[1] for row in view.tables["table-brief"][1:]] == ["SIGN(3,0,0)"]
    opened = view.tables[""]  # the only group with classes is open
    assert opened[0] == ["class", "support", "precision", "recall", "F1"]
    assert [row[0] for row in opened[1:]] == ["cat", "dog <b>", "", "cat", "dog <b>"]
    assert "b" not in view.tags


def test_clicks_sort_tables_and_hide_curves_and_hovering_shows_the_tooltip(page: Path) -> None:
    """The same page with a script at its end that clicks and moves the pointer."""
    touched = page.with_name("touched.html")
    touched.write_text(page.read_text() + f"<script>{INTERACTION}</script>")
    view = look(touched, page.parent, "dataset=flickr")
    assert view.console == []
    means = [float(row[3].split()[0]) for row in view.tables["table-results"][1:]]
    assert means == sorted(means)
    assert "seed " in view.tip
    assert view.pressed.count("false") == 2  # the group is hidden in both figures
    assert "4 of 7 runs" in view.text


def test_on_a_phone_rows_stay_low_and_the_trials_of_a_search_share_a_line_of_the_legend(tmp_path: Path) -> None:
    runs = tmp_path / "outputs"
    make_run(runs / "run", "communities-1000000-nodes-inductive", score=0.7)
    for trial in range(5):
        make_run(runs / f"trial-{trial}", "cora", job_type="search", learning_rate=0.1 / (trial + 1))
    page = Report.read([runs]).write(tmp_path / "report")
    page.write_text(page.read_text() + f"<script>{HIGHEST_ROW}</script>")
    view = look(page, tmp_path, size=(390, 3000))
    assert view.console == []
    assert int(re.search(r"highest row: (\d+)", view.text)[1]) < 120
    legends = 2 * 2  # of learning curves and of scores against seconds, for both data sets
    assert len(view.pressed) == legends
    assert "SIGN(4,0,1) · trials of a search" in view.text


def test_light_theme_is_dark_on_light_and_dark_theme_light_on_dark(page: Path, light: View) -> None:
    dark = look(page, page.parent, "theme=dark", (1400, 5000))
    for view, background, sign in ((light, (0.9, 1.0), -1), (dark, (0.0, 0.2), 1)):
        brightness = _brightness(view.screenshot)
        assert brightness.shape == (5000, 1400)
        paper = np.median(brightness)
        assert background[0] <= paper <= background[1]
        for part in np.array_split(brightness[:4000], 4):  # text or lines in each quarter of the page
            assert ((part - paper) * sign > 0.4).mean() > 0.002


def _brightness(image: Path) -> np.ndarray:
    from matplotlib.image import imread

    return imread(image)[..., :3].mean(axis=-1)
