"""The Python API: the estimator, data sets by name, and hops, as the command line has them."""

import gc
import logging
import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import hydra
import numpy as np
import pytest
import sklearn.base
import torch
import yaml
from common.paths import REPOSITORY
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from torch_geometric.data import Data

import sign
from sign import Graph, SIGNClassifier, SignError
from sign.config.configure import compose
from sign.config.identity import flatten
from sign.config.settings import Settings
from sign.config.trained import trained_settings
from sign.estimator import SETTINGS
from sign.experiments.run import run
from sign.runs import Run
from sign.transforms import SIGN

SMALL = {"p": 1, "units": 4, "classification_units": 4, "max_epochs": 3, "learning_rate": 0.05}


def communities(y: Any = None, seed: int = 0, **options: Any) -> Graph:
    """Two communities of 20 nodes each, which their features tell apart."""
    rng = np.random.default_rng(seed)
    community = np.repeat([0, 1], 20)
    pairs = [(i, j) for i in range(40) for j in range(i) if community[i] == community[j] and rng.random() < 0.3]
    x = 4 * community[:, None] + rng.standard_normal((40, 4))
    splits = {"train": np.arange(0, 40, 2), "val": np.arange(1, 40, 4), "test": np.arange(3, 40, 4)}
    return Graph.from_edges(np.array(pairs), x, community if y is None else y, **{**splits, **options})


@pytest.fixture(scope="module")
def named() -> Graph:
    return communities(np.repeat(["cats", "dogs"], 20))


@pytest.fixture(scope="module")
def model(named: Graph) -> SIGNClassifier:
    return SIGNClassifier(**{**SMALL, "max_epochs": 15}).fit(named)


def test_the_defaults_are_those_of_the_configuration() -> None:
    defaults = flatten(OmegaConf.to_container(compose("tuned=null"), resolve=True))  # type: ignore[arg-type]
    params = SIGNClassifier().get_params()
    assert {name: defaults[setting] for name, setting in SETTINGS.items()} == {name: params[name] for name in SETTINGS}
    assert params.keys() - SETTINGS == {"store", "folder", "overrides"}


@pytest.mark.slow
def test_the_estimator_has_the_numbers_of_the_command_line(configured: Callable[..., Settings], tmp_path: Path) -> None:
    command = run(configured("dataset=cora", "training.max_epochs=3"))
    tuned = flatten(yaml.safe_load((REPOSITORY / "conf" / "tuned" / "cora_sign.yaml").read_text()))
    overrides = [f"{name}={value}" for name, value in tuned.items()]
    model = SIGNClassifier(max_epochs=3, overrides=overrides, store=tmp_path / "store")
    model.fit(sign.load_dataset("cora"))
    timings = ("seconds", "memory")
    ours, theirs = (
        {name: value for name, value in metrics.items() if not name.startswith(timings)}
        for metrics in (model.metrics_, command)
    )
    assert ours == theirs


def test_scikit_learn_clones_it() -> None:
    model = SIGNClassifier(**SMALL, overrides=["model.activation=prelu"])
    copy = sklearn.base.clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.set_params(p=5) is copy
    assert repr(SIGNClassifier(p=5)) == "SIGNClassifier(p=5)"
    with pytest.raises(SignError, match=r"q=1: there is no such parameter; choose one of p, s, t"):
        copy.set_params(q=1)


def test_predictions_have_the_names_of_the_classes(named: Graph, model: SIGNClassifier) -> None:
    predicted, probabilities = model.predict(named), model.predict_proba(named)
    assert model.classes_.tolist() == ["cats", "dogs"]
    assert predicted.tolist() == np.repeat(["cats", "dogs"], 20).tolist()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert (model.classes_[probabilities.argmax(axis=1)] == predicted).all()
    assert model.embed(named).shape == (40, 4)


def test_scores_are_the_metrics_of_the_run(named: Graph, model: SIGNClassifier) -> None:
    assert Run(model.run_folder_).metrics == dict(sorted(model.metrics_.items()))
    for split in ("train", "val", "test"):
        assert model.score(named, split) == model.metrics_[f"{split}/accuracy"]
    nothing = np.empty(0, np.int64)
    assert model.score(replace(named, train=nothing, val=nothing)) == model.metrics_["test/accuracy"]


def test_another_graph_needs_the_same_features_only(named: Graph, model: SIGNClassifier) -> None:
    other = communities(seed=1)
    unlabelled = Graph.from_edges(other.adjacency.to_scipy(), other.features)
    assert (model.predict(unlabelled) == np.repeat(["cats", "dogs"], 20)).mean() > 0.9
    narrow = Graph.from_edges(other.adjacency.to_scipy(), other.features[:, :2], name="narrow")
    with pytest.raises(SignError, match="narrow: has 2 features, but the model was trained on 4"):
        model.predict(narrow)


def test_an_inductive_graph_is_scored_as_a_whole() -> None:
    graph = communities(inductive=True)
    model = SIGNClassifier(**SMALL, feature_scaling="standardize").fit(graph)
    assert model.predict(graph).dtype.kind == "i"
    assert (model.predict(graph)[graph.test] == graph.labels[graph.test]).mean() == model.score(graph, "test")


def test_several_labels_give_a_matrix() -> None:
    labels = np.stack([np.repeat([0, 1], 20), np.repeat([1, 0], 20), np.tile([0, 1], 20)], axis=1)
    graph = communities(labels, class_names=["a", "b", "c"])
    model = SIGNClassifier(**SMALL, overrides=["training.threshold=validation"]).fit(graph)
    predicted = model.predict(graph)
    assert predicted.shape == (40, 3)
    assert set(np.unique(predicted)) <= {0, 1}
    assert model.score(graph, "val") == model.metrics_["val/micro_f1"]
    hits = (predicted & labels)[graph.val].sum()
    micro_f1 = 2 * hits / (predicted[graph.val].sum() + labels[graph.val].sum())
    assert micro_f1 == pytest.approx(model.metrics_["val/micro_f1"])


def test_a_saved_model_is_a_run_folder(named: Graph, model: SIGNClassifier, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    model.save(folder)
    assert {"config.yaml", "run.json", "metrics.json", "checkpoints"} <= {path.name for path in folder.iterdir()}
    config = Run(folder).config
    assert config["dataset"] == {"name": "graph", "inductive": False, "content": Run(folder).description["content"]}
    assert config["paths"] == {"data_dir": "data", "store_dir": "store", "output_dir": "outputs"}
    loaded = SIGNClassifier.load(folder)
    np.testing.assert_array_equal(loaded.predict_proba(named), model.predict_proba(named))
    decided = ("++training.shuffle=rows",)  # another fit shuffles in the same way, whatever the memory
    assert loaded.get_params() == {**model.get_params(), "overrides": decided}
    assert loaded.metrics_ == model.metrics_
    with pytest.raises(SignError, match="exists and is not an empty folder"):
        model.save(folder)
    with pytest.raises(SignError, match=r"was trained on the graph graph of a program.*dataset=custom dataset\.path="):
        trained_settings(folder, OmegaConf.create())


@pytest.mark.slow
def test_a_loaded_model_knows_its_overrides(named: Graph, tmp_path: Path) -> None:
    overrides = ["model.activation=prelu", "operator@model.operators.s=heat", "model.s=1"]
    model = SIGNClassifier(**SMALL, overrides=overrides).fit(named)
    model.save(tmp_path / "model")
    again = sklearn.base.clone(SIGNClassifier.load(tmp_path / "model")).fit(named)
    np.testing.assert_array_equal(again.predict_proba(named), model.predict_proba(named))


def test_a_damaged_folder_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"is not the folder of a run: it has no config\.yaml"):
        SIGNClassifier.load(tmp_path)
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    with pytest.raises(SignError, match="model=None: a run needs this section"):
        SIGNClassifier.load(tmp_path)


def test_folders_that_are_given_stay(named: Graph, tmp_path: Path) -> None:
    model = SIGNClassifier(**SMALL, folder=tmp_path / "runs", store=tmp_path / "store").fit(named)
    folder, scratch = model.run_folder_, model._scratch
    assert folder.is_relative_to(tmp_path / "runs")
    assert scratch.exists()
    del model
    gc.collect()  # Lightning's objects refer to each other
    assert (folder / "metrics.json").exists()
    assert any((tmp_path / "store").iterdir())
    assert not scratch.exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dropout": 2}, "model.dropout=2: must be a number"),
        ({"p": -1}, "model.p=-1: a power must be an integer >= 0"),
        ({"memory": "much"}, "engine.memory=much: is not a size"),
        ({"overrides": ["dataset=cora"]}, "overrides: dataset=cora: a program trains one run on its own graph"),
        ({"overrides": ["model.q=1"]}, "model.q: there is no such setting"),
        ({"overrides": "model.p=1"}, "overrides='model.p=1': is a string; give a list"),
    ],
)
def test_a_wrong_parameter_is_one_message(named: Graph, params: dict[str, Any], message: str) -> None:
    with pytest.raises(SignError) as caught:
        SIGNClassifier(**params).fit(named)
    assert str(caught.value).startswith(message)


def test_what_cannot_work_says_what_to_do(named: Graph, model: SIGNClassifier) -> None:
    with pytest.raises(SignError, match="fit the model first"):
        SIGNClassifier().predict(named)
    data: Any = Data()
    with pytest.raises(SignError, match=r"a Data is not a sign\.Graph; build one with Graph\.from_edges, from_pyg"):
        SIGNClassifier().fit(data)
    with pytest.raises(SignError, match=r"a Data is not a sign\.Graph"):
        sign.diffuse(data, p=1)
    empty = replace(named, train=np.empty(0, np.int64))
    with pytest.raises(SignError, match="graph: the train split is empty; give the graph train, val and test nodes"):
        SIGNClassifier().fit(empty)
    with pytest.raises(SignError, match="split=dev: choose one of train, val, test"):
        model.score(named, "dev")


def state() -> list[Any]:
    """What training could change of the program around it."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)]
    flags = [torch.are_deterministic_algorithms_enabled(), logging.getLogger("pytorch_lightning").level]
    rngs = [random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()]  # noqa: NPY002
    return [handlers, flags, rngs, dict(os.environ), list(warnings.filters), list(logging.getLogger("sign").handlers)]


def test_the_program_around_it_is_left_alone(named: Graph, capfd: pytest.CaptureFixture[str]) -> None:
    before = state()
    model = SIGNClassifier(**SMALL).fit(named)
    model.predict(named)
    model.score(named)
    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_a_program_may_use_hydra_itself(named: Graph, tmp_path: Path) -> None:
    with hydra.initialize_config_dir(str(tmp_path)):
        assert SIGNClassifier(**SMALL).fit(named).run_folder_.exists()
        assert GlobalHydra.instance().is_initialized()


def test_hops_are_those_of_the_transform(named: Graph, tmp_path: Path) -> None:
    hops = sign.diffuse(named, p=2, s=1, t=1)
    assert list(hops) == ["X", "p1", "p2", "s1", "t1"]
    source, target = named.adjacency.to_scipy().nonzero()
    data = Data(x=torch.from_numpy(named.features), edge_index=torch.from_numpy(np.stack([source, target])).long())
    transformed = SIGN(p=2, s=1, t=1)(data)
    for number, name in enumerate(list(hops)[1:], start=1):
        np.testing.assert_allclose(hops[name], transformed[f"x{number}"], rtol=1e-5, atol=1e-6)
    stored = sign.diffuse(named, p=2, store=tmp_path / "store")
    np.testing.assert_array_equal(stored["p2"], hops["p2"])
    assert not stored["p2"].flags.writeable


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, sign; dir(sign); print([m for m in ('numpy', 'torch', 'hydra') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
    assert set(sign.__all__) <= set(dir(sign))
    assert all(getattr(sign, name) for name in sign.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sign.nothing  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (REPOSITORY / "docs" / "python-api.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)
    assert list(names["hops"]) == ["X", "p1", "p2", "p3", "s1"]
    assert names["model"].score(names["graph"], "test") > 0.8
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
