"""Settings that depend on the task of a data set."""

from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sign.config.configure import compose
from sign.config.settings import Settings
from sign.errors import SignError

TUNED = """# @package _global_
model:
  p: ${case:${dataset.labels},{sections:2,tags:1}}
training:
  monitor: ${case:${dataset.labels},{sections:val/accuracy,tags:val/micro_f1}}
  weight_decay: ${case:${dataset.labels},{sections:0.0,tags:1e-05}}
"""


@pytest.fixture
def overrides(tmp_path: Path) -> list[str]:
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "by_task.yaml").write_text(TUNED)
    return ["dataset=debian", "tuned=by_task", f"hydra.searchpath=[{tmp_path}]"]


@pytest.mark.parametrize(
    ("labels", "power", "monitor", "decay"), [("sections", 2, "val/accuracy", 0.0), ("tags", 1, "val/micro_f1", 1e-5)]
)
def test_a_setting_depends_on_the_task(
    overrides: list[str], labels: str, power: int, monitor: str, decay: float
) -> None:
    cfg = compose(*overrides, f"dataset.labels={labels}")
    OmegaConf.resolve(cfg)
    assert (cfg.model.p, cfg.training.monitor, cfg.training.weight_decay) == (power, monitor, decay)


def test_tuned_settings_of_debian_use_the_directions_of_dependencies(configured: Callable[..., Settings]) -> None:
    for labels, monitor in (("sections", "val/accuracy"), ("tags", "val/micro_f1")):
        settings = configured("dataset=debian", f"dataset.labels={labels}")
        assert all(settings.powers[letter][1] > 0 for letter in "pdf")
        assert settings.training.monitor == monitor


def test_an_override_replaces_every_case(overrides: list[str]) -> None:
    assert compose(*overrides, "dataset.labels=tags", "model.p=5").model.p == 5


def test_a_task_that_does_not_exist_is_refused_by_the_data_set(
    overrides: list[str], configured: Callable[..., Settings]
) -> None:
    with pytest.raises(SignError, match=r"^dataset.labels=words: choose one of sections, tags$"):
        configured(*overrides, "dataset.labels=words")
