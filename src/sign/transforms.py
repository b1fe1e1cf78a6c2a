"""SIGN's operators as a transform of PyG ``Data`` objects."""

from collections.abc import Mapping

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from sign.engines.base import Diffusion, Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import powers
from sign.errors import SignError
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.directed import DirectedAdjacency
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.triangle import TriangleAdjacency

PAPER: dict[str, Operator] = {
    "p": NormalizedAdjacency(),
    "s": PersonalizedPageRank(),
    "t": TriangleAdjacency(),
    "d": DirectedAdjacency(),
    "f": DirectedAdjacency(transposed=True),
}


@functional_transform("sign_operators")
class SIGN(BaseTransform):  # type: ignore[misc]
    """Store the hops of SIGN(p,s,t) as ``data.x1``, ``data.x2``, …: all powers of p first, then of s, t, d and f.

    An edge (i, j) of ``data.edge_index`` is an entry W[i, j]: row i of a directed operator averages its targets.
    ``data.edge_weight`` is used if present, ``data.edge_attr`` never; an asymmetric graph is directed.

    ``operators`` adds to the paper's operators, or replaces them, by letter; ``engine`` is where products run:
    ``SIGN(p=2, h=1, operators={"p": NormalizedAdjacency("row"), "h": HeatKernel()}, engine=TorchEngine())``.
    """

    def __init__(
        self, operators: Mapping[str, Operator] | None = None, engine: Engine | None = None, **powers: int
    ) -> None:
        self.operators = {**PAPER, **(operators or {})}
        self.engine = engine or LocalEngine()
        for letter, operator in self.operators.items():
            if not isinstance(operator, Operator):
                raise SignError(f"{letter}={operator}: is not an operator of SIGN")
        for letter, power in powers.items():
            if letter not in self.operators:
                raise SignError(f"{letter}={power}: there is no operator {letter}; name it in operators=...")
            if isinstance(power, bool) or not isinstance(power, int | np.integer) or power < 0:
                raise SignError(f"{letter}={power}: a power must be an integer >= 0")
        self.powers = powers

    def forward(self, data: Data) -> Data:
        """Return the data object with the hops of its graph."""
        graph = _graph(data)
        hop = 0
        for letter, operator in self.operators.items():
            if not self.powers.get(letter):
                continue
            resolved = operator.resolve(graph.inductive)
            matrix = resolved.matrix_by(graph, self.engine.count)
            rows = dict.fromkeys(range(1, self.powers[letter] + 1))
            diffusion = Diffusion(resolved, matrix, graph.features, rows, rows)
            for _, x in powers(diffusion, graph.features[:], self.engine.product):
                hop += 1
                data[f"x{hop}"] = torch.from_numpy(x).to(data.x.device)
        return data

    def __repr__(self) -> str:
        return f"SIGN({', '.join(f'{letter}={power}' for letter, power in self.powers.items())})"


def _graph(data: Data) -> Graph:
    if data.x is None or data.edge_index is None:
        raise SignError("the data object has no x or no edge_index; SIGN diffuses x along edge_index")
    if data.x.layout != torch.strided or data.x.dim() != 2:
        raise SignError(f"x of shape {tuple(data.x.shape)} and layout {data.x.layout}; it must be dense, nodes × d")
    if data.edge_index.dim() != 2 or data.edge_index.shape[0] != 2:
        raise SignError(f"edge_index of shape {tuple(data.edge_index.shape)}; it must be 2 × edges")
    source, target = data.edge_index.cpu().numpy()
    weights = None if data.edge_weight is None else data.edge_weight.detach().float().cpu().numpy()
    nodes, nothing = int(data.num_nodes), np.empty(0, np.int64)
    adjacency = CSR.from_edges(source, target, nodes, weights)
    return Graph(
        name="data",
        adjacency=adjacency,
        features=np.ascontiguousarray(data.x.detach().float().cpu().numpy()),
        labels=np.zeros(nodes, np.int64),
        classes=1,
        train=np.arange(nodes),
        val=nothing,
        test=nothing,
        directed=not adjacency.is_symmetric(),
    )
