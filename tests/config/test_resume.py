"""A resumed run keeps its settings, but for the keys that were named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from common.paths import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st

from sign.config.configure import compose, configure
from sign.config.identity import EXTENDABLE, changes_numbers, flatten
from sign.config.resume import resumed_config
from sign.config.settings import Settings
from sign.errors import SignError

Configured = Callable[..., Settings]
BASE = ("logger=csv", "paths.data_dir=/tmp", "paths.output_dir=/tmp", "paths.store_dir=/tmp")


def begin(settings: Settings, folder: Path, content: str | None = None) -> str:
    """Write the folder of an interrupted run; return the override that resumes it."""
    checkpoint = folder / "checkpoints" / "last.ckpt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    (folder / "config.yaml").write_text(yaml.safe_dump(settings.config))
    (folder / "run.json").write_text(json.dumps({"content": content}))
    return f"ckpt_path={checkpoint}"


def changes(before: Settings, after: Settings) -> dict[str, Any]:
    """The settings that differ, with their values after; None where one is gone."""
    old, new = flatten(before.config), flatten(after.config)
    return {key: new.get(key) for key in {*old, *new} if key != "ckpt_path" and old.get(key, ...) != new.get(key, ...)}


def test_only_the_named_keys_change(configured: Configured, tmp_path: Path) -> None:
    """The keys beside them in their sections keep values that are not the defaults."""
    run = configured("store.dtype=float16", "trainer.precision=bf16-mixed", "engine=torch")
    resume = begin(run, tmp_path / "run")
    named = ("store.verify=true", "trainer.accelerator=cpu", "engine.memory=8GB")
    resumed = configure(compose(*named, resume), [*named, resume])
    assert (resumed.store.dtype, resumed.device.precision) == ("float16", "bf16-mixed")
    assert changes(run, resumed) == {"store.verify": True, "trainer.accelerator": "cpu", "engine.memory": "8GB"}


def test_a_run_folder_stands_for_its_last_checkpoint(configured: Configured, tmp_path: Path) -> None:
    begin(configured("store.dtype=float16"), tmp_path / "run")
    for folder in (tmp_path / "run", tmp_path / "run" / "checkpoints"):
        resumed = configured(f"ckpt_path={folder}")
        assert resumed.ckpt_path == tmp_path / "run" / "checkpoints" / "last.ckpt"
    assert resumed.store.dtype == "float16"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &a {b: *a}", "has the alias *a"),
        ("a0: &a0 [x, x]\na1: &a1 [*a0, *a0]\na2: [*a1, *a1]", "has the alias *a0"),
        ("[1, 2]", "is not a configuration"),
    ],
)
def test_a_damaged_configuration_is_refused(configured: Configured, tmp_path: Path, text: str, problem: str) -> None:
    resume = begin(configured(), tmp_path / "run")
    (tmp_path / "run" / "config.yaml").write_text(text)
    with pytest.raises(SignError) as caught:
        configured(resume)
    assert str(caught.value).startswith(f"{tmp_path / 'run' / 'config.yaml'}: {problem}")


ORIGINAL = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.integers(0, 9),
        "model.p": st.integers(0, 4),
        "training.learning_rate": st.sampled_from([0.1, 0.02]),
        "training.patience": st.integers(1, 9),
        "scaling.hops": st.sampled_from(["none", "l2"]),
        "store.dtype": st.sampled_from(["float16", "float32"]),
        "store.rows": st.sampled_from(["used", "all"]),
        "trainer.precision": st.sampled_from(["32-true", "bf16-mixed"]),
        "trainer.devices": st.sampled_from(["1", "2"]),
        "engine.memory": st.sampled_from(["null", "1GB"]),
        "engine.threads": st.integers(0, 3),
        "group": st.sampled_from(["null", "first"]),
    },
)
CHANGEABLE = st.fixed_dictionaries(
    {},
    optional={
        "training.max_epochs": st.integers(1, 99),
        "training.patience": st.integers(1, 99),
        "store.rows": st.sampled_from(["used", "all"]),
        "store.verify": st.sampled_from(["true", "false"]),
        "trainer.accelerator": st.sampled_from(["auto", "cpu"]),
        "trainer.compile": st.sampled_from(["true", "false"]),
        "trainer.devices": st.sampled_from(["1", "2", "null"]),
        "engine.memory": st.sampled_from(["null", "1GB", "2GB"]),
        "engine.threads": st.integers(0, 3),
        "paths.output_dir": st.just("/var/tmp"),
        "job_type": st.just("reproduce"),
        "group": st.sampled_from(["null", "second"]),
        "runs": st.integers(1, 3),
    },
)


@pytest.mark.slow
@given(original=ORIGINAL, named=CHANGEABLE)
def test_a_resumed_run_differs_in_the_named_keys_alone(
    original: dict[str, Any], named: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = configure(compose(*BASE, *(f"{key}={value}" for key, value in original.items())), [])
    resume = begin(run, tmp_path_factory.mktemp("runs") / "run")
    overrides = [*(f"{key}={value}" for key, value in named.items()), resume]
    resumed = configure(compose(*overrides), overrides)
    expected = {key: yaml.safe_load(str(value)) for key, value in named.items()}
    unchanged = flatten(run.config)
    assert changes(run, resumed) == {key: value for key, value in expected.items() if unchanged[key] != value}


def test_a_group_choice_changes_its_group_but_not_the_numbers(configured: Configured, tmp_path: Path) -> None:
    run = configured("engine=torch", "trainer.precision=bf16-mixed", "trainer.compile=true")
    resume = begin(run, tmp_path / "run")
    overrides = ("engine=local", "engine.threads=2", "trainer=cpu", "logger=wandb", resume)
    resumed = configure(compose(*overrides), overrides)
    assert resumed.config["engine"] == {
        "_target_": "sign.engines.local.engine.LocalEngine",
        "threads": 2,
        "memory": None,
    }
    assert (resumed.device.accelerator, resumed.device.compile) == ("cpu", False)
    assert resumed.device.precision == "bf16-mixed"
    assert resumed.config["logger"]["project"] == "sign"


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("+engine.conf.a=1", {"engine.conf.a": 1}),
        ("++engine.conf.spark.b=c", {"engine.conf.spark.b": "c"}),
        ("engine.memory=null", {"engine.memory": None}),
        ("store={verify:true}", {"store.verify": True}),
        ("~group", {"group": None}),
        ("paths.store_dir=/tmp", {"paths.store_dir": "/tmp", "store.root": "/tmp"}),
        ("model.p=3", {}),
        ("operator@model.operators.s=ppr", {}),
    ],
)
def test_every_form_of_override(
    configured: Configured, tmp_path: Path, override: str, expected: dict[str, Any]
) -> None:
    run = configured("engine=spark", "engine.memory=2GB", "model.p=3", "group=mine", "dataset.split_seed=4")
    resume = begin(run, tmp_path / "run")
    overrides = ("engine=spark", "engine.memory=2GB", override, resume)
    settings = resumed_config(compose("engine=spark", override, resume), tmp_path / "run", overrides[2:])
    old, new = flatten(run.config), flatten(yaml.safe_load(yaml.safe_dump(_plain(settings))))
    differing = {key: new.get(key) for key in {*old, *new} if old.get(key, ...) != new.get(key, ...)}
    differing.pop("ckpt_path")
    differing.pop("engine.conf", None)  # an empty mapping before
    assert differing == expected


def test_the_command_of_a_run_resumes_it(configured: Configured, tmp_path: Path) -> None:
    command = ("dataset=cora", "model=sign_directed", "model.p=2", "operator@model.operators.s=heat")
    run = configured(*command, "dataset.split_seed=4", "model.f=1")
    resume = begin(run, tmp_path / "run")
    assert not changes(run, configured(*command, "dataset.split_seed=4", "model.f=1", resume))
    with pytest.raises(SignError, match=r"^model=sign_directed: would change .* \(model.f=1\); leave it out"):
        configured(*command, "dataset.split_seed=4", resume)


def test_a_setting_that_the_graph_chose_is_that_of_the_same_choice(configured: Configured, tmp_path: Path) -> None:
    graph = ("dataset=custom", f"dataset.path={REPOSITORY / 'examples' / 'graph'}", "model=sign")
    run = configured(*graph)
    assert run.config["model"]["batch_norm"] == "auto"
    run.config["model"]["batch_norm"] = False
    resume = begin(run, tmp_path / "run", run.dataset.content_digest())
    assert not changes(run, configured(*graph, resume))


def _plain(settings: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(settings, resolve=True)


@pytest.mark.parametrize(
    "override",
    [
        "seed=1",
        "model.p=2",
        "dataset.split_seed=1",
        "training.learning_rate=1",
        "store.dtype=float16",
        "trainer.precision=bf16-mixed",
        "scaling.hops=none",
        "store={dtype:float16}",
        "dataset=communities",
        "model=mlp",
        "model=sign",
        "model=sign_directed",
        "operator@model.operators.s=heat",
        "~model.s",
        "+model.q=1",
        "tuned=cora_mlp",
        "experiment=cora_public",
    ],
)
def test_what_changes_the_numbers_is_refused(configured: Configured, tmp_path: Path, override: str) -> None:
    resume = begin(configured("model.p=3"), tmp_path / "run")
    with pytest.raises(SignError, match="would change the numbers of the run that ckpt_path=") as caught:
        configure(compose(override, resume), [override, resume])
    assert str(caught.value).startswith(override)
    assert "\n" not in str(caught.value)


def test_a_run_whose_files_have_changed_is_not_resumed(configured: Configured, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    card = tmp_path / "pack" / "pack.json"
    card.write_text("{}")
    run = configured("dataset=pack", f"dataset.path={card.parent}")
    resume = begin(run, tmp_path / "run", run.dataset.content_digest())
    assert configured(resume).dataset == run.dataset
    card.write_text('{"name": "other"}')
    with pytest.raises(SignError, match=r"its files have changed since the run in .* began"):
        configured(resume)


def test_every_changeable_key_of_the_property_is_one() -> None:
    assert all(not changes_numbers(key) for key in ("store.rows", "engine.memory", "runs", "paths.output_dir"))
    assert all(changes_numbers(key) for key in EXTENDABLE)
