"""What all motif-induced operators share."""

import numpy as np

from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import select_entries
from sign.graph.matrix import Matrix
from sign.operators.base import inverse_power


def motif_matrix(csr: CSR, counts: Array) -> Matrix:
    """Entries weighted by how often they occur in a motif, rows normalised."""
    weights = counts.astype(np.float32) * (1 if csr.weights is None else csr.weights)
    weighted = select_entries(CSR(csr.indptr, csr.indices, weights), counts > 0)
    return Matrix(weighted, left=inverse_power(weighted.row_sums, 1))
