"""SIGN's operators as a transform of PyG ``Data`` objects."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from sign.engines.base import Diffusion, Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import powers
from sign.errors import SignError
from sign.graph.csr import CSR, Array, Floats
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
    ``data.edge_weight`` is used if present, ``data.edge_attr`` never; an asymmetric graph is directed. Without
    ``data.edge_index``, the graph is read from ``data.adj_t``, the sparse tensor of PyG's ``ToSparseTensor``.

    ``SIGN(p=K)`` is not PyG's ``SIGN(K)``: the paper's normalised adjacency, and thus ours, has self-loops.
    On undirected graphs, ``SIGN(p=K, normalization="symmetric")`` is PyG's; directed ones are symmetrised here.

    Parameters
    ----------
    operators
        Adds to the paper's operators, or replaces them, by letter.
    engine
        Where products run; by default on this machine.
    normalization
        Of the operator p, as in :class:`~sign.operators.adjacency.NormalizedAdjacency`; by default ``gcn``.
    powers
        The highest power of each operator.

    Examples
    --------
    ``SIGN(p=2, s=1)``, or ``SIGN(p=2, h=1, operators={"h": HeatKernel()}, engine=TorchEngine())``.
    """

    def __init__(
        self,
        operators: Mapping[str, Operator] | None = None,
        engine: Engine | None = None,
        normalization: Literal["gcn", "symmetric", "row", "column"] | None = None,
        **powers: int,
    ) -> None:
        _check_arguments(operators, normalization, powers)
        self.operators = {**PAPER, **(operators or {})}
        if normalization is not None:
            self.operators["p"] = NormalizedAdjacency(normalization)
        self.engine = engine or LocalEngine()
        for letter, operator in self.operators.items():
            if not isinstance(operator, Operator):
                raise SignError(f"{letter}={operator}: is not an operator of SIGN")
            if operator.learns:
                raise SignError(f"{letter}={operator}: learns its weights, which the transform does not; use train.py")
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
                if x.size and not (np.isfinite(x.min()) and np.isfinite(x.max())):
                    raise SignError(f"x{hop}: some values are not finite in float32; scale x first")
                data[f"x{hop}"] = torch.from_numpy(x).to(data.x.device)
        return data

    def __repr__(self) -> str:
        return f"SIGN({', '.join(f'{letter}={power}' for letter, power in self.powers.items())})"


def _check_arguments(operators: Any, normalization: str | None, powers: Mapping[str, int]) -> None:
    """Raise for the arguments of PyG's transform, for none, and for two operators p."""
    if isinstance(operators, int):
        raise SignError(
            f"SIGN({operators}): name the operator, as in SIGN(p={operators}); PyG's SIGN({operators}), without "
            f'self-loops, is SIGN(p={operators}, normalization="symmetric")'
        )
    if not powers:
        raise SignError("SIGN(): no operator has a power; name one, as in SIGN(p=2)")
    if normalization is not None and "p" in (operators or {}):
        raise SignError(f"normalization={normalization}: is that of the operator p, which is given as well")


def _graph(data: Data) -> Graph:
    if data.x is None:
        raise SignError("the data object has no x, which SIGN diffuses")
    if data.x.layout != torch.strided or data.x.dim() != 2:
        raise SignError(f"x of shape {tuple(data.x.shape)} and layout {data.x.layout}; it must be dense, nodes × d")
    nodes, nothing = int(data.num_nodes), np.empty(0, np.int64)
    adjacency = CSR.from_edges(*_edges(data, nodes))
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


def _edges(data: Data, nodes: int) -> tuple[Array, Array, int, Floats | None]:
    """Return what :meth:`CSR.from_edges` takes: sources, targets, the number of nodes, and weights or None."""
    if data.edge_index is not None:
        edges, weights = data.edge_index, data.edge_weight
        if edges.dim() != 2 or edges.shape[0] != 2:
            raise SignError(f"edge_index of shape {tuple(edges.shape)}; it must be 2 × edges")
    elif (adjacency := data.get("adj_t")) is not None:
        if not isinstance(adjacency, torch.Tensor) or tuple(adjacency.shape) != (nodes, nodes):
            shape = tuple(getattr(adjacency, "shape", ()))
            raise SignError(
                f"adj_t is a {type(adjacency).__name__} of shape {shape}; it must be a sparse tensor of torch, "
                f"{nodes} × {nodes}, as of T.ToSparseTensor(layout=torch.sparse_csr)"
            )
        entries = adjacency.to_sparse(layout=torch.sparse_coo).coalesce()
        edges, weights = entries.indices().flip(0), entries.values()  # transposed: a row is a target
        weights = None if (weights == 1).all() else weights
    else:
        raise SignError("the data object has no edge_index and no adj_t; SIGN diffuses x along edges")
    if weights is not None and weights.dim() != 1:
        raise SignError(f"edge weights of shape {tuple(weights.shape)}; there must be one per edge")
    source, target = edges.cpu().numpy()
    return source, target, nodes, None if weights is None else weights.detach().float().cpu().numpy()
