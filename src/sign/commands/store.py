"""List, verify, prune and export stored hops."""

import shlex
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict
from rich.table import Column, Table
from rich.text import Text

from sign.config.configure import compose, configure, override
from sign.config.defaults import resolve
from sign.config.identity import identity
from sign.config.settings import Settings
from sign.datasets.custom.parquet.dataset import Parquet
from sign.engines.spark.engine import SparkEngine
from sign.errors import SignError
from sign.store.row_folder import RowFolder
from sign.store.store import LEARNED
from sign.system import memory
from sign.system.atomic_files import check_new_folder
from sign.system.console import console
from sign.system.program import command_line
from sign.system.text_files import visible
from sign.validation import Range, Validated, check

if TYPE_CHECKING:
    from sign.store.maintenance import Entry

EXPORTED = ("dataset.", "store.", "search.")  # sections whose settings an export holds, or that no run has


@dataclass(frozen=True)
class StoreRequest(Validated):
    """The command's own settings; the others are those of a training run."""

    action: Literal["list", "verify", "prune", "export"]
    path: str | None
    unused_days: Annotated[float | None, Range(0)]
    damaged: bool
    dry_run: bool


def main(cfg: DictConfig) -> None:
    """Do what ``action`` says."""
    with open_dict(cfg):  # what remains is the configuration of a training run
        request = StoreRequest(**{field.name: cfg.pop(field.name) for field in fields(StoreRequest)})
    if request.action == "export":
        export(request, configure(cfg))
        return
    check("paths.store_dir", cfg.paths.store_dir, str)
    root = Path(cfg.paths.store_dir)
    if not root.is_dir():
        console.print(f"{root}: there is no store yet; {command_line('precompute')} fills one", soft_wrap=True)
    elif request.action == "list":
        show(root)
    elif request.action == "verify":
        verify(root)
    else:
        prune(root, request)


def show(root: Path) -> None:
    """Print a table of the stored hops and row files; three columns of several lines fit into a narrow terminal."""
    from sign.store.maintenance import folders, read_entry

    columns = [Column("data set", overflow="fold"), Column("operator, folder", overflow="fold")]
    columns.append(Column("size", justify="right", no_wrap=True))
    table = Table(*columns, title=Text(visible(f"{root.resolve()}")), title_justify="left", show_lines=True)
    total = 0
    for entry in map(read_entry, folders(root)):
        total += entry.size()
        table.add_row(*(_cell(*lines) for lines in describe(entry)))
    console.print(table)
    free = memory.format_size(shutil.disk_usage(root).free)
    console.print(f"{memory.format_size(total)} in total; {free} free on the disk")


def describe(entry: "Entry") -> list[tuple[str, ...]]:
    """The cells of a folder of the store, as lines."""
    hops, key = entry.hops, entry.key
    size = (memory.format_size(entry.size()), *(("used", age_text(entry.unused_days())) if entry.files() else ()))
    if isinstance(entry.folder, RowFolder):
        rows = f"{entry.rows['shape'][0]:,} rows" if entry.rows else "incomplete"
        what = f"rows of the {key['split']} split"
        return [(entry.path.parent.name, what, rows), (f"{len(key['hops'])} hops", key["dtype"], entry.path.name), size]
    rows = next((f"{hop['shape'][0]:,} rows" for hop in hops.values()), "")
    powers = f"{'hop' if len(hops) == 1 else 'hops'} {power_ranges(list(hops))}" if hops else "no hops"
    operator = (
        (entry.folder.operator_text() or "features") if entry.folder else "no manifest, or one of another version"
    )
    of = "parameters, learned" if key.get("scope") == LEARNED else f"{key.get('scope')} graph"
    scope = f"{of}, {key['dtype']}" if key else ""
    return [
        (entry.path.parent.name, powers, rows if key.get("rows") is None else f"{rows} used"),
        (operator, scope, entry.path.name),
        size,
    ]


def _cell(first: str, *others: str) -> Text:
    below = "".join(f"\n{visible(line)}" for line in others if line)
    return Text(visible(first)).append(below, style="dim")


def verify(root: Path) -> None:
    """Compare every array with its checksum and print the damaged files; raise if there are any."""
    from sign.store import maintenance

    count, damaged = maintenance.verify(root)
    for file in damaged:
        console.print(f"damaged: {file}", soft_wrap=True)
    if damaged:
        raise SignError(f"{len(damaged)} of {count} arrays are damaged; action=prune damaged=true removes them")
    console.print(f"{count} arrays are intact")


def prune(root: Path, request: StoreRequest) -> None:
    """Remove useless files and print what was removed."""
    from sign.store import maintenance

    pruning = maintenance.prune(root, request.unused_days, request.damaged, request.dry_run)
    for path in pruning.busy:
        console.print(f"skipped, a run is writing to it: {path}", soft_wrap=True)
    for path in pruning.removed:
        console.print(f"{'would remove' if request.dry_run else 'removed'} {path}", soft_wrap=True)
    console.print(f"{memory.format_size(pruning.freed)} {'would be freed' if request.dry_run else 'freed'}")


def power_ranges(powers: list[int]) -> str:
    """Return powers as ranges.

    >>> power_ranges([1, 2, 3, 4, 6])
    '1 to 4, 6'
    """
    first = [power for power in sorted(powers) if power - 1 not in powers]
    last = [power for power in sorted(powers) if power + 1 not in powers]
    return ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in zip(first, last, strict=True))


def age_text(days: float) -> str:
    """Return an age as text, such as ``3 h ago``."""
    hours = 24 * days
    return f"{days:.0f} d ago" if days >= 1 else f"{hours:.0f} h ago" if hours >= 1 else f"{60 * hours:.0f} min ago"


def export(request: StoreRequest, settings: Settings) -> None:
    """Write the hops of one configuration to ``path`` and print the command that trains on them."""
    if request.path is None:
        raise SignError("path=null: action=export needs a new folder to write, such as path=cora-pack")
    if settings.stays_on_cluster:
        export_from_cluster(request.path, settings)
        return
    from sign.diffusion.export import export

    folder = Path(request.path)
    check_new_folder(folder)
    source = settings.precomputation
    classification, hops = source.run()
    settings = resolve(settings, classification)
    size = export(source, classification, hops, folder)
    console.print(f"{size / 1e6:.1f} MB in {folder}; to train on it, on any machine:", soft_wrap=True)
    model = HydraConfig.get().runtime.choices["model"]
    overrides = shlex.join(training_overrides(settings, model, folder))
    console.print(f"{command_line('train')} {overrides}", soft_wrap=True)


def export_from_cluster(path: str, settings: Settings) -> None:
    """Let executors write the hops of a graph that stays on the cluster, and print the command that trains on them."""
    from sign.engines.spark.cluster.export import export_pack

    engine, dataset = cast(SparkEngine, settings.engine), cast(Parquet, settings.dataset)
    with engine.limits(Path(settings.store.root)):
        sizes = export_pack(engine, dataset, settings.powers, settings.config["scaling"]["features"], path)
    rows = ", ".join(f"{count:,} {split}" for split, count in sizes.items())
    console.print(f"{rows} rows in {path}; to train on them, on any machine that has this folder:", soft_wrap=True)
    model = HydraConfig.get().runtime.choices["model"]
    console.print(f"{command_line('train')} {shlex.join(training_overrides(settings, model, path))}", soft_wrap=True)


def training_overrides(settings: Settings, model: str, folder: Path | str) -> list[str]:
    """Return the overrides with which a training run on exported hops has the same numbers.

    ``model`` is the choice of ``conf/model``; what differs from its defaults and is not in the export is listed.
    """
    overrides = ["dataset=pack", override("dataset.path", str(folder)), f"model={model}"]
    plain: Any = OmegaConf.to_container(compose(*overrides), resolve=True)
    defaults, wanted = (
        {name: value for name, value in identity(config).items() if not name.startswith(EXPORTED)}
        for config in (plain, settings.config)
    )
    removed = [f"~{name}" for name in defaults if name not in wanted]
    added = [f"+{override(name, value)}" for name, value in wanted.items() if name not in defaults]
    changed = [override(name, wanted[name]) for name, value in defaults.items() if wanted.get(name, value) != value]
    return [*overrides, *removed, *added, *changed]
