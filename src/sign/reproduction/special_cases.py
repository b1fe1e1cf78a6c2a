"""The layers that SIGN contains as special cases, compared with PyG's: equal weights must give equal outputs."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.polynomial import Chebyshev, Polynomial
from rich.table import Table
from torch import Tensor
from torch_geometric.nn import ChebConv, GCNConv, SGConv

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import prepare
from sign.models.networks.base import HopNetwork
from sign.reproduction.request import Request
from sign.system.atomic_files import write_json, write_text
from sign.training.datamodule import SIGNDataModule
from sign.training.task import SIGNTask

UNSCALED = ("scaling.features=none", "scaling.hops=none")  # PyG's layers scale nothing
TOLERANCE = 1e-4  # relative to the largest output


class LayerInputs:
    """Data and network of one configuration: the concatenated hops of all nodes, and the graph in PyG's form."""

    def __init__(self, settings: Settings) -> None:
        data = prepare(settings)
        assert isinstance(data, SIGNDataModule)
        self.datamodule = data
        hops = [np.array(array[:]) for array in self.datamodule.hops.arrays["train"]]
        self.rows = torch.from_numpy(np.concatenate(hops, axis=1))
        graph = settings.dataset.load()
        self.features = torch.from_numpy(np.array(graph.features))
        edges = np.stack([graph.adjacency.row_indices(), graph.adjacency.indices])
        self.edges = torch.from_numpy(edges.astype(np.int64))
        task = SIGNTask.for_data(self.datamodule, settings.architecture, settings.training, settings.seed)
        self.network: HopNetwork = task.network.eval()
        self.widths = self.datamodule.features, self.datamodule.classification.classes

    def outputs(self, weight: Tensor, bias: Tensor, layer: torch.nn.Module) -> tuple[Tensor, Tensor]:
        """Outputs of our network with the given weights, and of PyG's layer."""
        self.network.output.weight.data, self.network.output.bias.data = weight, bias
        with torch.no_grad():
            return self.network(self.rows), layer(self.features, self.edges)


def gcn(settings: Settings) -> tuple[Tensor, Tensor]:
    """``model=gcn`` and ``GCNConv``."""
    inputs = LayerInputs(settings)
    layer = GCNConv(*inputs.widths)
    return inputs.outputs(layer.lin.weight.data, layer.bias.data, layer)


def sgcn(settings: Settings) -> tuple[Tensor, Tensor]:
    """``model=sgcn`` and ``SGConv``."""
    inputs = LayerInputs(settings)
    layer = SGConv(*inputs.widths, K=settings.powers["p"][1])
    return inputs.outputs(layer.lin.weight.data, layer.lin.bias.data, layer)


def chebnet(settings: Settings) -> tuple[Tensor, Tensor]:
    r"""``model=chebnet`` and ``ChebConv``.

    PyG computes :math:`\sum_k T_k(Δ - I) X W_k`; a change of basis gives :math:`\sum_j Δ^j X Θ_j`.
    """
    inputs = LayerInputs(settings)
    terms = settings.powers["p"][1] + 1
    layer = ChebConv(*inputs.widths, K=terms)
    basis = np.zeros((terms, terms), np.float32)
    for k in range(terms):  # T_k(Δ - 1) is the Chebyshev polynomial of the interval [0, 2]
        basis[k, : k + 1] = Chebyshev.basis(k, domain=[0, 2]).convert(kind=Polynomial).coef
    weights = np.stack([lin.weight.detach().numpy() for lin in layer.lins])
    ours = np.tensordot(basis.T, weights, axes=1)
    return inputs.outputs(torch.from_numpy(np.concatenate(ours, axis=1)), layer.bias.data, layer)


Comparison = Callable[[Settings], tuple[Tensor, Tensor]]
# The rows of the paper's table: overrides that configure the special case, and the comparison with PyG's layer.
SPECIAL_CASES: dict[str, tuple[tuple[str, ...], Comparison]] = {
    "ChebNet": (("model=chebnet", "model.p=3"), chebnet),
    "GCN": (("model=gcn",), gcn),
    "S-GCN": (("model=sgcn", "model.p=3"), sgcn),
}


@dataclass(frozen=True)
class LayerComparison:
    """The largest difference between the outputs of two layers, and the largest output."""

    layer: str
    difference: float
    size: float
    equal: bool

    @classmethod
    def of(cls, layer: str, ours: Tensor, theirs: Tensor) -> "LayerComparison":
        """Compare outputs."""
        difference, size = float((ours - theirs).abs().max()), float(theirs.abs().max())
        return cls(layer, difference, size, difference <= TOLERANCE * size)


@dataclass(frozen=True)
class SpecialCaseTable:
    """The comparisons of all special cases on Cora."""

    rows: list[LayerComparison]
    name = "reductions"

    @classmethod
    def compute(cls, request: Request) -> "SpecialCaseTable":
        """Compute the outputs of every special case and of PyG's layer."""
        folders = (f"paths.store_dir={request.store_dir}", f"paths.output_dir={request.output_dir}")
        rows = []
        for layer, (overrides, outputs) in SPECIAL_CASES.items():
            settings = configure(compose("dataset=cora", *overrides, *UNSCALED, *folders), [])
            rows.append(LayerComparison.of(layer, *outputs(settings)))
        return cls(rows)

    def rich_table(self) -> Table:
        """The table for the terminal."""
        shown = Table(title="SIGN's special cases and PyG's layers, equal weights, Cora", title_justify="left")
        for column in ("layer", "largest difference", "largest output", "equal"):
            shown.add_column(column, justify="left" if column == "layer" else "right")
        for row in self.rows:
            shown.add_row(row.layer, f"{row.difference:.1e}", f"{row.size:.2f}", "yes" if row.equal else "NO")
        return shown

    def footnotes(self) -> Iterator[str]:
        """No lines below the table."""
        yield from ()

    def write(self, folder: Path) -> None:
        """Write ``reductions.json`` and ``reductions.md``."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {"rows": [asdict(row) for row in self.rows], "tolerance": TOLERANCE}
        write_json(folder / f"{self.name}.json", content)
        lines = ["## Special cases of SIGN and PyG's layers", ""]
        lines += ["| layer | largest difference | largest output |", "| --- | --- | --- |"]
        lines += [f"| {row.layer} | {row.difference:.1e} | {row.size:.2f} |" for row in self.rows]
        write_text(folder / f"{self.name}.md", "\n".join([*lines, ""]))

    def check(self) -> None:
        """Raise :class:`SignError` if any outputs differ."""
        if wrong := [row.layer for row in self.rows if not row.equal]:
            raise SignError(
                f"{', '.join(wrong)}: outputs differ from PyG's by more than {TOLERANCE:g} of the largest output"
            )
