"""Small runs of every baseline."""

COMMUNITIES = (
    "dataset=communities",
    "dataset.nodes=300",
    "dataset.edges=1500",
    "dataset.features=16",
    "dataset.classes=4",
    "training.learning_rate=0.02",
    "training.batch_size=64",
)
SMALL = ("model.units=16", "model.dropout=0.1")
SYSTEMS = {
    "gcn_full": (),
    "graphsage": ("model.fanouts=[5,5]",),
    "fastgcn": ("model.sizes=[100]",),
    "asgcn": ("model.sizes=[100,100]",),
    "vrgcn": ("model.fanouts=[2]",),
    "clustergcn": ("model.clusters=10", "model.clusters_per_batch=2"),
    "graphsaint": ("model.size=50", "model.coverage=5"),
    "node2vec": (
        *("model.embedding_size=8", "model.embedding_epochs=8", "model.embedding_learning_rate=0.05"),
        *("model.embedding_batch_size=16", "model.walk_length=10", "model.context_size=5", "model.walks_per_node=4"),
    ),
}


def system(name: str, *overrides: str) -> tuple[str, ...]:
    """The overrides of a small run of one system."""
    return (*COMMUNITIES, f"model={name}", *SMALL, *SYSTEMS[name], *overrides)
