"""The overrides of every cell of a table: an experiment, or a model on a graph; with ``smoke`` on generated data."""

from pathlib import Path

from omegaconf import open_dict

from sign.config.configure import compose
from sign.errors import MissingData
from sign.experiments.series import SeriesPlan, plan
from sign.reproduction.lookalikes import communities, quick_overrides, smoke_overrides
from sign.reproduction.request import Request
from sign.system.program import CONF

# Data sets of the tables graphs, baselines and beyond; random splits are drawn anew for each run.
GRAPHS = {
    "cora": ("cora", ["dataset.split_seed=${seed}"]),
    "citeseer": ("planetoid", ["dataset.graph=citeseer"]),
    "pubmed": ("planetoid", ["dataset.graph=pubmed"]),
    "computers": ("amazon", ["dataset.graph=computers", "dataset.split_seed=${seed}"]),
    "photo": ("amazon", ["dataset.graph=photo", "dataset.split_seed=${seed}"]),
    "cs": ("coauthor", ["dataset.graph=cs", "dataset.split_seed=${seed}"]),
    "sections": ("debian", ["dataset.labels=sections"]),
    "tags": ("debian", ["dataset.labels=tags"]),
}
DEBIAN_RUNS = 3  # of searched systems: a run takes minutes there
# Rows of the graphs table: the model, the model whose tuned settings it uses, and overrides of them.
MODELS: dict[str, tuple[str, str, list[str]]] = {
    "mlp": ("mlp", "mlp", []),
    "sgcn": ("sgcn", "sgcn", []),
    "gcn": ("gcn", "sgcn", ["model.p=1"]),
    "sign": ("sign", "sign", ["model.s=0", "model.t=0"]),
    "sign_ppr": ("sign", "sign", ["model.s=1", "model.t=0"]),
    "sign_triangles": ("sign", "sign", ["model.s=0", "model.t=2"]),
    "sign_both": ("sign", "sign", ["model.s=1", "model.t=2"]),
}
BASELINES = (
    "mlp",
    "sgcn",
    "sign",
    "gcn_full",
    "graphsage",
    "fastgcn",
    "asgcn",
    "vrgcn",
    "clustergcn",
    "graphsaint",
    "node2vec",
)
# Systems by table: the model, and other choices. Their settings are searched on each graph (tools/tune.py).
SEARCHED: dict[str, dict[str, tuple[str, list[str]]]] = {
    "baselines": {name: (name, []) for name in BASELINES},
    "beyond": {
        **{name: (name, []) for name in ("sign", "sagn", "gamlp", "hoga", "nagphormer", "gpr")},
        "sign_labels": ("sign", []),  # model.l is among the settings
        "sign_smoothed": ("sign", ["smoothing=correct_and_smooth"]),
    },
}


def cell_plan(experiment: str, request: Request, *changes: str) -> SeriesPlan:
    """Plan the series of one cell; ``changes`` are overrides of its experiment."""
    folders = [f"paths.{name}={getattr(request, name)}" for name in ("data_dir", "store_dir", "output_dir")]
    graph, _, system = experiment.partition("/")
    runs = DEBIAN_RUNS if system and GRAPHS[graph][0] == "debian" and not request.runs else request.seeds
    series = [f"runs={runs}", "job_type=reproduce", f"logger={request.tracker}"]
    cfg = compose(*overrides_of(experiment, request.smoke), *series, *changes, *folders, *request.settings)
    with open_dict(cfg):
        cfg.experiment = None if {":", "/"} & {*experiment} else experiment
    return plan(cfg)


def overrides_of(experiment: str, smoke: bool) -> list[str]:
    """The overrides of a training command for an experiment, for ``graph:model``, or for ``graph/table/system``.

    A system has the settings that were searched for it on the graph, with equal budgets; it has no look-alike.
    """
    graph, _, system = experiment.partition("/")
    if system:
        table, _, name = system.partition("/")
        if not tuned_file(table, graph, name).is_file():
            command = f"python tools/tune.py --table {table} --graphs {graph} --systems {name}"
            raise MissingData(f"its settings have not been searched; {command} does it (docs/baselines.md)")
        (dataset, choice), (model, changes) = GRAPHS[graph], SEARCHED[table][name]
        return [f"dataset={dataset}", *choice, f"model={model}", *changes, f"tuned={table}/{graph}_{name}"]
    graph, _, model = experiment.partition(":")
    if model:
        return [*graph_overrides(graph, model, smoke), *(quick_overrides(MODELS[model][0]) if smoke else ())]
    return [f"experiment={experiment}", *(smoke_overrides(experiment) if smoke else ())]


def tuned_file(table: str, graph: str, system: str) -> Path:
    """The file with the settings that were searched for a system on a graph."""
    return CONF / "tuned" / table / f"{graph}_{system}.yaml"


def graph_overrides(graph: str, model: str, smoke: bool) -> list[str]:
    """A model on a graph, or on small communities, with the settings that were tuned for the pair or the data set."""
    dataset, choice = GRAPHS[graph]
    name, tuned, changes = MODELS[model]
    data = [f"dataset={dataset}", *choice]
    if smoke:
        data = communities(graph)
    own = (CONF / "tuned" / f"{graph}_{tuned}.yaml").is_file()
    return [*data, f"model={name}", *changes, f"tuned={graph if own else dataset}_{tuned}"]
