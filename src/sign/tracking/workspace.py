"""A saved view of a W&B project with the panels of the report over all its runs."""

from typing import TYPE_CHECKING

from sign.errors import SignError
from sign.runs import SCORES
from sign.system.program import install_command
from sign.tracking.wandb import WandB

if TYPE_CHECKING:
    from wandb_workspaces.workspaces import Workspace

MAIN = ("accuracy", "micro_f1")  # of single labels, and of multilabel data
COSTS = ("seconds/precompute", "seconds/epoch", "seconds/inference", "memory/peak_bytes", "hops/bytes")
SEARCHED = (
    "training.learning_rate",
    "training.batch_size",
    "training.weight_decay",
    "model.dropout",
    "model.inception_layers",
    "model.inception_units",
    "model.classification_layers",
    "model.classification_units",
)


def build(entity: str, project: str) -> "Workspace":
    """Build the view without saving it: results, learning, cost and search, with runs grouped by ``group``."""
    try:
        import wandb_workspaces.reports.v2 as panels
        from wandb_workspaces.expr import Metric
        from wandb_workspaces.workspaces import RunsetSettings, Section, Workspace
    except ImportError as error:
        advice = install_command("workspace")
        raise SignError(f"wandb-workspaces, which saves views, is not installed; {advice}") from error

    learning = [
        panels.LinePlot(title=title, x=x, y=[y])
        for x, y, title in (
            ("epoch", "val/loss", "Validation loss"),
            ("epoch", "train/loss", "Training loss"),
            *(("epoch", f"val/{name}", f"Validation {title}") for name, title in SCORES.items()),
            *(("seconds/training", f"val/{name}", f"Convergence: validation {SCORES[name]}") for name in MAIN),
        )
    ]
    results = [panels.BarPlot(title=f"Test {title}", metrics=[f"test/{name}"]) for name, title in SCORES.items()]
    results += [
        panels.ScatterPlot(
            title=f"Test {SCORES[name]} against seconds per epoch",
            x=panels.SummaryMetric("seconds/epoch"),
            y=panels.SummaryMetric(f"test/{name}"),
        )
        for name in MAIN
    ]
    tables = ("paper", "per_class", "confusion")
    results += [panels.WeavePanelSummaryTable(table_name=f"tables/{name}") for name in tables]
    columns = [panels.ParallelCoordinatesPlotColumn(metric=panels.Config(name)) for name in SEARCHED]
    loss = panels.ParallelCoordinatesPlotColumn(metric=panels.SummaryMetric("val/loss"))
    search = [
        panels.ParallelCoordinatesPlot(columns=[*columns, loss]),
        panels.ParameterImportancePlot(with_respect_to="val/loss"),
        panels.RunComparer(),
    ]
    return Workspace(
        name="SIGN",
        entity=entity,
        project=project,
        sections=[
            Section(name="Results", panels=results, is_open=True),
            Section(name="Learning", panels=learning, is_open=True),
            Section(name="Cost", panels=[panels.BarPlot(metrics=[name]) for name in COSTS], is_open=True),
            Section(name="Search", panels=search),
        ],
        runset_settings=RunsetSettings(groupby=[Metric("Group")]),
    )


def save(tracker: WandB) -> str:
    """Create the view in the project of a tracker; returns its URL."""
    import wandb

    mode, reason = tracker.select_mode()
    if mode != "online":
        raise SignError(f"W&B is {mode}{f', because {reason}' if reason else ''}; saving a view needs the service")
    try:
        entity = tracker.entity or wandb.Api().default_entity or ""
        return str(build(entity, tracker.project).save().url)
    except (wandb.Error, ValueError, OSError) as error:
        raise SignError(f"logger.project={tracker.project}: the view was not saved ({error})") from error
