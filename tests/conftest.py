"""Shared set-up: a composed configuration with its folders in a temporary place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from sign.config.configure import Settings, composed, configure

# Workers of pytest with several threads each wait for one another; so would the commands that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("sign", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("sign")


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Settings]:
    """``configured("model.p=2")``: checked settings that write under ``tmp_path``, without a tracker."""

    def make(*overrides: str) -> Settings:
        folders = [f"paths.{kind}_dir={tmp_path / kind}" for kind in ("data", "store", "output")]
        return configure(composed("logger=csv", *folders, *overrides), overrides)

    return make
