"""The matrix that an engine multiplies: an adjacency with scaling factors and self-loops."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sign.errors import SignError
from sign.graph.csr import CSR, Floats

if TYPE_CHECKING:
    import scipy.sparse


@dataclass(frozen=True, eq=False)
class Matrix:
    r"""The matrix :math:`\mathrm{diag}(l)\,(W + \lambda I)\,\mathrm{diag}(r)` that an engine multiplies.

    Normalisation and self-loops are applied during the product: the entries are not copied.

    Parameters
    ----------
    csr
        The adjacency W.
    left, right
        The scaling factors l and r; None for ones.
    self_loop
        The weight λ.
    """

    csr: CSR
    left: Floats | None = None
    right: Floats | None = None
    self_loop: float = 0.0

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            factor = getattr(self, name)
            if factor is not None and (factor.shape != (self.csr.nodes,) or factor.dtype != np.float32):
                raise SignError(
                    f"the {name} factor of a matrix has type {factor.dtype} and shape {factor.shape}; "
                    f"it must be float32 of shape ({self.csr.nodes},)"
                )

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Convert to scipy.

        Returns
        -------
        scipy.sparse.csr_array
            The matrix with the factors multiplied out.
        """
        import scipy.sparse

        identity = scipy.sparse.eye_array(self.csr.nodes, dtype=np.float32, format="csr")
        result = self.csr.to_scipy() + self.self_loop * identity
        if self.left is not None:
            result = scipy.sparse.diags_array(self.left) @ result
        if self.right is not None:
            result = result @ scipy.sparse.diags_array(self.right)
        return result.astype(np.float32).tocsr()
