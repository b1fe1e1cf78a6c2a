"""Generated graphs in place of data sets have settings of their size."""

from pathlib import Path

import pytest
from common.requests import requested
from omegaconf import OmegaConf

from sign.reproduction.experiments import cell_plan
from sign.reproduction.lookalikes import BASELINES, baseline_of, scaled_sizes
from sign.system.program import CONF

DEBIAN, PRODUCTS = 63_436, 2_449_029  # nodes


@pytest.mark.parametrize(
    ("experiment", "scale", "sizes"),
    [
        ("products_timing_clustergcn", 0.02, ["model.clusters=300"]),
        ("products_timing_graphsaint", 0.02, ["model.size=400"]),
        ("wikipedia_timing_clustergcn", 1e-6, ["model.clusters=1"]),
        ("products_timing_4", 0.02, []),
    ],
)
def test_sizes_shrink_with_the_graph(experiment: str, scale: float, sizes: list[str]) -> None:
    assert scaled_sizes(experiment, scale) == sizes


@pytest.mark.parametrize("system", ["clustergcn", "graphsaint"])
def test_sizes_of_debian_are_those_of_products_for_its_nodes(system: str) -> None:
    (expected,) = scaled_sizes(f"products_timing_{system}", DEBIAN / PRODUCTS)
    name, _, value = expected.partition("=")
    experiment = OmegaConf.load(CONF / "experiment" / f"debian_timing_{system}.yaml")
    assert OmegaConf.select(experiment, name) == int(value)


@pytest.mark.parametrize("baseline", BASELINES)
def test_smoke_trains_small_baselines(tmp_path: Path, baseline: str) -> None:
    plan = cell_plan(f"products_{baseline}", requested(tmp_path, "table=smoke"))
    assert plan.first.baseline.units == 16
    assert plan.first.training.max_epochs == 2
    assert plan.first.dataset.name == "ogbn-products-like"


def test_smoke_replaces_debian(tmp_path: Path) -> None:
    first = cell_plan("debian_timing_4", requested(tmp_path, "table=smoke")).first
    assert (first.dataset.name, first.title, first.training.monitor) == ("debian-like", "SIGN-4", "val/accuracy")


def test_the_baseline_of_an_experiment() -> None:
    assert baseline_of("reddit_gcn_full") == "gcn_full"
    assert baseline_of("debian_timing_graphsaint") == "graphsaint"
    assert baseline_of("products_sgcn") == baseline_of("products_timing_2") == ""
