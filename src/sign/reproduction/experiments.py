"""The words of every cell: which experiment it is, or which model on which graph, and its look-alike."""

from omegaconf import open_dict

from sign.config.configure import CONF, compose
from sign.experiments.series import Plan, plan
from sign.reproduction.request import Request

# The graphs at hand; where a split is drawn, each run has its own.
GRAPHS = {
    "cora": ("cora", ["dataset.split_seed=${seed}"]),
    "citeseer": ("planetoid", ["dataset.graph=citeseer"]),
    "pubmed": ("planetoid", ["dataset.graph=pubmed"]),
    "computers": ("amazon", ["dataset.graph=computers", "dataset.split_seed=${seed}"]),
    "photo": ("amazon", ["dataset.graph=photo", "dataset.split_seed=${seed}"]),
    "cs": ("coauthor", ["dataset.graph=cs", "dataset.split_seed=${seed}"]),
}
# The rows of the table of graphs: a model, whose settings it takes, and what is changed in them.
MODELS: dict[str, tuple[str, str, list[str]]] = {
    "mlp": ("mlp", "mlp", []),
    "sgcn": ("sgcn", "sgcn", []),
    "gcn": ("gcn", "sgcn", ["model.p=1"]),
    "sign": ("sign", "sign", ["model.s=0", "model.t=0"]),
    "sign_ppr": ("sign", "sign", ["model.s=1", "model.t=0"]),
    "sign_triangles": ("sign", "sign", ["model.s=0", "model.t=2"]),
    "sign_both": ("sign", "sign", ["model.s=1", "model.t=2"]),
}
# Sizes of look-alikes: small, but with ten nodes a class.
SCALES = {
    "reddit": ("reddit", 0.004),
    "flickr": ("flickr", 0.01),
    "ppi": ("ppi", 0.09),
    "yelp": ("yelp", 0.0015),
    "products": ("ogbn-products", 0.002),
    "papers100M": ("ogbn-papers100M", 0.0006),
    "wikipedia": ("wikipedia", 0.0001),
}
INDUCTIVE = ("reddit", "flickr", "ppi", "yelp")
QUICK = [  # enough to learn something of planted communities
    "model.inception_units=32",
    "model.classification_units=32",
    "model.dropout=0.1",
    "training.max_epochs=3",
    "training.learning_rate=0.01",
    "training.batch_size=128",
]


def cell_plan(experiment: str, request: Request) -> Plan:
    """The series of one cell."""
    folders = [f"paths.{name}={getattr(request, name)}" for name in ("data_dir", "store_dir", "output_dir")]
    words = [
        *words_of(experiment, request.smoke),
        f"runs={request.seeds}",
        "job_type=reproduce",
        f"logger={request.logger}",
        *folders,
        *request.settings,
    ]
    cfg = compose(*words)
    name = next((word.split("=")[1] for word in words if word.startswith("experiment=")), None)
    with open_dict(cfg):
        cfg.experiment = name
    return plan(cfg)


def words_of(experiment: str, smoke: bool) -> list[str]:
    """What a training command would say: of an experiment, or of graph:model."""
    graph, _, model = experiment.partition(":")
    if model:
        return [*graph_words(graph, model, smoke), *(QUICK if smoke else ())]
    dataset = experiment.partition("_")[0]
    return [f"experiment={experiment}", *((*look_alike(dataset), *QUICK) if smoke else ())]


def graph_words(graph: str, model: str, smoke: bool) -> list[str]:
    """A model on one of the graphs at hand, with the settings that were found good for the pair."""
    dataset, choice = GRAPHS[graph]
    name, settings, changes = MODELS[model]
    data = alike_graph(graph) if smoke else [f"dataset={dataset}", *choice]
    own = (CONF / "tuned" / f"{graph}_{settings}.yaml").is_file()
    return [*data, f"model={name}", *changes, f"tuned={graph if own else dataset}_{settings}"]


def look_alike(dataset: str) -> list[str]:
    """A generated graph of the data set's shape."""
    like, scale = SCALES[dataset]
    inductive = str(dataset in INDUCTIVE).lower()
    return [
        "dataset=shape",
        f"dataset.like={like}",
        f"dataset.scale={scale}",
        f"dataset.inductive={inductive}",
    ]


def alike_graph(graph: str) -> list[str]:
    """A generated graph of about the size of a small real one."""
    return ["dataset=communities", f"dataset.name={graph}-like", "dataset.nodes=600", "dataset.edges=2400"]
