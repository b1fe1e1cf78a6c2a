"""Overrides of small, fast runs."""

from common.paths import REPOSITORY

SMALL = (
    "dataset=communities",
    "dataset.nodes=2000",
    "dataset.edges=10000",
    "dataset.classes=4",
    "model.p=2",
    "model.inception_units=32",
    "model.classification_units=32",
    "training.learning_rate=0.01",
    "training.max_epochs=12",
)

CUSTOM = ("dataset=custom", f"dataset.path={REPOSITORY / 'examples' / 'graph'}", "model.p=1")
