"""Generated graphs in place of data sets: tiny ones for ``table=smoke``, and others where files are unavailable."""

from sign.config.configure import compose

# Scales of ``table=smoke``: small, but with at least ten nodes per class.
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
QUICK = [
    "model.inception_units=32",
    "model.classification_units=32",
    "model.dropout=0.1",
    "training.max_epochs=3",
    "training.learning_rate=0.01",
    "training.batch_size=128",
]
QUICK_BASELINE = [  # fewer epochs and batches: there are many baselines
    "model.units=16",
    "model.dropout=0.1",
    "training.max_epochs=2",
    "training.learning_rate=0.01",
    "training.batch_size=512",
]
HEADS = ("sagn", "gamlp")  # of experiments with their authors' settings
QUICK_HEAD = ["model.units=16", *QUICK[2:]]
BASELINES = {  # what is sampled, by system
    "gcn_full": [],
    "graphsage": ["model.fanouts=[5,5]"],
    "fastgcn": ["model.sizes=[50]"],
    "asgcn": ["model.sizes=[50,50]"],
    "vrgcn": ["model.fanouts=[2]"],
    "clustergcn": ["model.clusters=12", "model.clusters_per_batch=3"],
    "graphsaint": ["model.size=50", "model.coverage=1", "model.batches_per_epoch=4"],
    "node2vec": ["model.walk_length=5", "model.context_size=3", "model.walks_per_node=1", "model.embedding_epochs=1"],
}
# Settings of timing experiments that are chosen for the size of the graph, and shrink with it.
SIZES = {"clustergcn": "clusters", "graphsaint": "size"}


def quick_overrides(model: str) -> list[str]:
    """A small network and a short training, enough to learn planted communities in part."""
    return [*QUICK_BASELINE, *BASELINES[model]] if model in BASELINES else QUICK


def baseline_of(experiment: str) -> str:
    """The baseline of an experiment such as ``products_timing_clustergcn``; empty for SIGN and its special cases."""
    return next((name for name in BASELINES if experiment.endswith(f"_{name}")), "")


def smoke_overrides(experiment: str) -> list[str]:
    """A tiny graph with the statistics of the experiment's data set, and a short training."""
    dataset, _, model = experiment.partition("_")
    quick = QUICK_HEAD if model.startswith(HEADS) else quick_overrides(baseline_of(experiment))
    return [*(shape(dataset) if dataset in SCALES else communities(dataset)), *quick]


def shape(dataset: str, scale: float | None = None) -> list[str]:
    """A generated graph with the statistics of a data set; by default at the scale of ``table=smoke``."""
    like, small = SCALES[dataset]
    size, inductive = scale or small, str(dataset in INDUCTIVE).lower()
    return ["dataset=shape", f"dataset.like={like}", f"dataset.scale={size}", f"dataset.inductive={inductive}"]


def communities(name: str) -> list[str]:
    """A small graph in place of a data set whose statistics :func:`shape` does not have."""
    return ["dataset=communities", f"dataset.name={name}-like", "dataset.nodes=600", "dataset.edges=2400"]


def scaled_sizes(experiment: str, scale: float) -> list[str]:
    """The settings that a timing experiment has on a graph with a fraction of the nodes.

    Clusters keep their nodes, so that there are fewer; sampled subgraphs keep their share of the graph.
    """
    name = SIZES.get(baseline_of(experiment))
    if not name:
        return []
    value = compose(f"experiment={experiment}").model[name]
    return [f"model.{name}={max(1, round(value * scale))}"]
