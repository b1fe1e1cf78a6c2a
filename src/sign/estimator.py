"""SIGN as an estimator in the style of scikit-learn: the runs of the command line, from Python."""

import inspect
import shutil
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import numpy as np

from sign.config.identity import flatten
from sign.config.in_memory import as_overrides, check_graph, composed, configured, on_graph, saved_config
from sign.config.settings import Settings
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.experiments.run import new_run_folder, prepare, run
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, Graph
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.node_hops import SELECTED, hops_of
from sign.prediction.scoring import StoredRows, probabilities, score_of, scores
from sign.prediction.settings import TrainedRun
from sign.runs import Run
from sign.system.atomic_files import write_errors
from sign.training.isolation import isolated

SETTINGS = {  # of the command line, by parameter
    **{letter: f"model.{letter}" for letter in "pstdf"},
    "units": "model.inception_units",
    "layers": "model.inception_layers",
    **{name: f"model.{name}" for name in ("classification_units", "classification_layers")},
    **{name: f"model.{name}" for name in ("dropout", "input_dropout", "batch_norm")},
    **{name: f"training.{name}" for name in ("learning_rate", "weight_decay", "batch_size", "max_epochs", "patience")},
    "feature_scaling": "scaling.features",
    "hop_scaling": "scaling.hops",
    "seed": "seed",
    "memory": "engine.memory",
}


class SIGNClassifier:
    """SIGN(p,s,t) for the nodes of a graph, single label or multilabel.

    The defaults are those of the command line without tuned settings, and so are the numbers of a run. Nothing is
    printed; the logger ``sign`` says what happens.

    Parameters
    ----------
    p, s, t, d, f
        The highest power of the normalised adjacency, of personalised PageRank, of the triangle-induced adjacency, of
        the directed adjacency and of its transpose.
    units, layers
        Hidden units and layers of each branch.
    classification_units, classification_layers
        Hidden units and layers after the branches are concatenated, before the output layer.
    dropout, input_dropout, batch_norm
        Regularisation of the network.
    learning_rate, weight_decay, batch_size, max_epochs, patience
        Adam, and the number of epochs without improvement of the validation loss before training stops.
    feature_scaling
        Before diffusion: ``none``, ``row_sum`` or ``standardize`` (by the training nodes).
    hop_scaling
        Rows of each hop, before the network: ``none`` or ``l2``.
    seed
        Of the initial weights, dropout and the order of batches.
    store, folder
        Folders that keep the hops and the runs; None: temporary ones, which live as long as the estimator.
    memory
        The limit while hops are computed, such as ``4GB``.
    overrides
        Other settings as on the command line, such as ``["model.activation=prelu", "training.monitor=val/accuracy"]``.

    Attributes
    ----------
    classes_
        The names of the classes, or their numbers.
    metrics_
        The metrics of every split, and the costs of the run.
    run_folder_
        The run folder.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> edges = np.array([(i, j) for i in range(40) for j in range(i) if y[i] == y[j] and rng.random() < 0.3])
    >>> x = y[:, None] + rng.standard_normal((40, 4))
    >>> graph = Graph.from_edges(edges, x, y, train=np.arange(0, 40, 2), val=[1, 21, 31], test=[3, 5, 23, 25])
    >>> model = SIGNClassifier(p=2, units=8, classification_units=8, max_epochs=10, learning_rate=0.1).fit(graph)
    >>> model.predict(graph)[:5], model.predict_proba(graph).shape, model.embed(graph).shape
    (array([0, 0, 0, 0, 0]), (40, 2), (40, 8))
    >>> model.score(graph, "test")
    1.0
    """

    classes_: Array
    metrics_: dict[str, float]
    run_folder_: Path
    _model: TrainedModel
    _settings: Settings

    def __init__(
        self,
        *,
        p: int = 3,
        s: int = 0,
        t: int = 0,
        d: int = 0,
        f: int = 0,
        units: int = 256,
        layers: int = 1,
        classification_units: int = 512,
        classification_layers: int = 1,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        batch_norm: bool = True,
        learning_rate: float = 0.001,
        weight_decay: float = 0.0,
        batch_size: int = 1024,
        max_epochs: int = 500,
        patience: int = 15,
        feature_scaling: str = "none",
        hop_scaling: str = "none",
        seed: int = 0,
        store: str | Path | None = None,
        folder: str | Path | None = None,
        memory: str | None = None,
        overrides: Sequence[str] = (),
    ) -> None:
        self.p, self.s, self.t, self.d, self.f = p, s, t, d, f
        self.units, self.layers = units, layers
        self.classification_units, self.classification_layers = classification_units, classification_layers
        self.dropout, self.input_dropout, self.batch_norm = dropout, input_dropout, batch_norm
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.batch_size, self.max_epochs, self.patience = batch_size, max_epochs, patience
        self.feature_scaling, self.hop_scaling = feature_scaling, hop_scaling
        self.seed, self.store, self.folder, self.memory, self.overrides = seed, store, folder, memory, overrides

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator.

        Parameters
        ----------
        deep
            Without effect; scikit-learn passes it.

        Returns
        -------
        dict
            Parameters by name.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters; the next :meth:`fit` uses them.

        Parameters
        ----------
        params
            Parameters by name.

        Returns
        -------
        SIGNClassifier
            The estimator itself.

        Raises
        ------
        SignError
            If there is no such parameter.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise SignError(f"{name}={value}: there is no such parameter; choose one of {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = {name: value for name, value in self.get_params().items() if value != defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def fit(self, graph: Graph) -> Self:
        """Compute the hops of a graph and train on its splits; the best checkpoint is kept.

        Parameters
        ----------
        graph
            A graph with labels, and with training and validation nodes.

        Returns
        -------
        SIGNClassifier
            The estimator itself.

        Raises
        ------
        SignError
            If a parameter or the graph is not valid.
        """
        check_graph(graph)
        _check_splits(graph)
        cfg = composed({setting: getattr(self, name) for name, setting in SETTINGS.items()}, self.overrides)
        settings = on_graph(configured(cfg, self._scratch, self.store, self.folder), graph)
        with isolated():
            data = prepare(settings)
            folder = new_run_folder(settings)
            metrics = run(replace(settings, run_folder=folder), data)
        return self._trained(settings, folder, metrics)

    def predict(self, graph: Graph) -> Array:
        """Predict the class of each node.

        Parameters
        ----------
        graph
            Any graph with the features that the model was trained on; it needs no labels.

        Returns
        -------
        numpy.ndarray
            One class per node, or a 0/1 matrix with one column per label.
        """
        values = self._scores(graph, embed=False)
        if self._model.multilabel:
            return self._model.decide(values).astype(np.uint8)
        predicted: Array = self.classes_[values.argmax(axis=1)]
        return predicted

    def predict_proba(self, graph: Graph) -> Array:
        """Predict the probability of each class, or of each label.

        Parameters
        ----------
        graph
            Any graph with the features that the model was trained on; it needs no labels.

        Returns
        -------
        numpy.ndarray
            One row per node, with one column per class or label.
        """
        values = self._scores(graph, embed=False)
        return probabilities(values, self._model.multilabel)

    def embed(self, graph: Graph) -> Array:
        """Compute the last hidden layer, which the output layer reads.

        Parameters
        ----------
        graph
            Any graph with the features that the model was trained on; it needs no labels.

        Returns
        -------
        numpy.ndarray
            One row per node.
        """
        return self._scores(graph, embed=True)

    def score(self, graph: Graph, split: str = "test") -> float:
        """Measure the accuracy on a split of a graph, or the micro-F1 of several labels.

        Parameters
        ----------
        graph
            A graph with labels, and with the features that the model was trained on.
        split
            ``train``, ``val`` or ``test``.

        Returns
        -------
        float
            The accuracy or micro-F1.
        """
        model = self._fitted(graph)
        if split not in SPLITS:
            raise SignError(f"split={split}: choose one of {', '.join(SPLITS)}")
        with isolated():
            metrics = evaluate(replace(self._settings, dataset=InMemory.of(graph)), model, (split,))
        return metrics[f"{split}/{'micro_f1' if model.multilabel else 'accuracy'}"]

    def save(self, folder: str | Path) -> None:
        """Save the model as a run folder, which the commands for trained runs read as well.

        Parameters
        ----------
        folder
            A new or empty folder.
        """
        self._fitted()
        target = Path(folder).expanduser()
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise SignError(f"{folder}: exists and is not an empty folder; choose another one")
        draft = target.resolve().with_name(f".{target.resolve().name}.tmp")
        with write_errors(target, "the argument of save"):
            try:
                shutil.copytree(self.run_folder_, draft, ignore=shutil.ignore_patterns("last.ckpt"))
                draft.replace(target)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    @classmethod
    def load(cls, folder: str | Path, *, store: str | Path | None = None, memory: str | None = None) -> Self:
        """Load a model from the folder of :meth:`save`, or of any finished run, without running code from it.

        Parameters
        ----------
        folder
            The run folder; it stays where it is.
        store, memory
            As of the estimator.

        Returns
        -------
        SIGNClassifier
            A trained estimator.
        """
        trained = TrainedRun(run=str(folder)).folder
        cfg = saved_config(trained)
        cfg.engine.memory = memory
        model = cls(store=store)
        settings = configured(cfg, model._scratch, store)
        flat = flatten(settings.config)
        model.set_params(**{name: flat[setting] for name, setting in SETTINGS.items() if setting in flat})
        model.overrides = as_overrides(settings.config, SETTINGS.values())
        return model._trained(settings, trained, Run(trained).metrics or {})

    def _trained(self, settings: Settings, folder: Path, metrics: dict[str, float]) -> Self:
        """Take what was trained."""
        with isolated():
            model = TrainedModel.load(folder)
        self.classes_ = np.array(model.class_names) if model.class_names else np.arange(model.classes)
        self.metrics_, self.run_folder_ = metrics, folder
        self._model = model
        self._settings = replace(settings, pseudo_labels=Run(folder).best_stage.pseudo_labels)
        return self

    @cached_property
    def _scratch(self) -> Path:
        """A temporary folder that lives as long as this object."""
        folder = mkdtemp(prefix="sign-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _fitted(self, graph: Graph | None = None) -> TrainedModel:
        """Return the trained model, after a check that there is one and that it suits the graph."""
        if not hasattr(self, "_model"):
            raise SignError(f"{type(self).__name__}: is not trained; fit the model first, or load one")
        if graph is not None:
            check_graph(graph)
            self._model.check_graph(graph)
        return self._model

    def _scores(self, graph: Graph, embed: bool) -> Array:
        """Return the logits or the embeddings of all nodes, in order."""
        model, settings = self._fitted(graph), self._settings
        score = score_of(model, "embeddings" if embed else "predictions")
        with settings.engine.limits(Path(settings.store.root)):
            hops = hops_of(settings, model, graph, np.arange(graph.nodes))
            rows = StoredRows(hops, SELECTED, model.hop_scaling)
            return np.concatenate([values for _, values in scores(rows, score)])


def _check_splits(graph: Graph) -> None:
    for split in SPLITS:
        if not len(graph.nodes_of(split)):
            raise SignError(f"{graph.name}: the {split} split is empty; give the graph train, val and test nodes")
