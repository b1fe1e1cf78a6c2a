"""The published number that a group of runs is compared with."""

from dataclasses import dataclass

from sign.published import published_cells, published_results, published_tables
from sign.report.groups import Group

GENERATED = ("sign.datasets.synthetic.lookalike.", "sign.datasets.synthetic.communities.")


@dataclass(frozen=True)
class Reference:
    """A published mean and standard deviation as fractions, with the printed decimals and the source."""

    metric: str
    mean: float
    std: float | None
    digits: int
    source: str
    comparable: bool


def reference(group: Group) -> Reference | None:
    """The number published for a group on the test split; that of a real graph does not apply to generated data.

    A group with an experiment has the number of that cell of the paper, any other one that of its data set and model.
    """
    generated = str(group.records[0].flat_config.get("dataset._target_")).startswith(GENERATED)
    cells = published_cells(group.experiment) if group.experiment else published_results(group.dataset, group.model)
    for cell in cells:
        if cell.metric.startswith("test/") and cell.mean is not None:
            table = published_tables()[cell.table]
            return Reference(
                metric=cell.metric.removeprefix("test/"),
                mean=cell.mean / cell.scale,
                std=None if cell.std is None else cell.std / cell.scale,
                digits=table.digits + (2 if cell.scale == 100 else 0),
                source=table.source,
                comparable=not generated,
            )
    return None
