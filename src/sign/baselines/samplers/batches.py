"""What samplers yield: layers of sampled entries, or a subgraph, as plain arrays."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sign.graph.csr import Floats

if TYPE_CHECKING:
    import scipy.sparse

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """Sampled entries in CSR format: rows are outputs of a layer, ``columns`` is the number of its inputs.

    ``weights`` include the factors of the estimator: the expectation of ``block @ h`` is what the layer computes
    without sampling. ``indices`` are distinct within a row, but not always sorted.
    """

    indptr: Integers
    indices: Integers
    weights: Floats
    columns: int

    @property
    def rows(self) -> Integers:
        """The row of every entry: ``(block.indices, block.rows)`` are the source and target of PyG's edges."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Convert to scipy."""
        import scipy.sparse

        return scipy.sparse.csr_array((self.weights, self.indices, self.indptr), (len(self.indptr) - 1, self.columns))


@dataclass(frozen=True, eq=False)
class LayeredBatch:
    """One node list more than there are layers, from the inputs ``nodes[0]`` to the targets ``nodes[-1]``.

    ``blocks[l]`` has the rows ``nodes[l + 1]`` and the columns ``nodes[l]``.
    """

    nodes: tuple[Integers, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Subgraph:
    """The subgraph that ``nodes``, which are sorted, induce; all layers use the same ``block``.

    ``targets`` are the positions of the target nodes within ``nodes``, and may be empty. The sum of the losses of the
    targets times ``loss_weights`` estimates the mean loss of all targets.
    """

    nodes: Integers
    block: Block
    targets: Integers
    loss_weights: Floats
