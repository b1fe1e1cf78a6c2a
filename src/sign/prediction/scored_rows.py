"""Hops of nodes ▶ rows of a table of predictions, on executors of Spark, which import torch but not Lightning."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sign.engines.spark.cluster.tables import spark_schema
from sign.graph.csr import Array, Floats
from sign.models.networks.base import HopNetwork
from sign.prediction.columns import OutputColumns
from sign.prediction.scoring import score_by
from sign.training.hop_rows import scale_rows


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Nodes and their hops ▶ rows of a table of predictions, on executors."""

    columns: OutputColumns
    network: HopNetwork
    hop_scaling: str
    precision: str
    threads: int

    def schema(self, id_type: str) -> Any:
        """Return the schema of the table, which does not depend on values."""
        ids: list[str | int] = ["a" if id_type == "string" else 0]
        wide = np.zeros((1, sum(self.columns.hops.values())), np.float32)
        return spark_schema(self._table(ids, wide).schema)

    def __call__(self, nodes: Any, wide: Floats) -> Any:
        """Return a batch of rows."""
        return self._table(nodes.column("id"), wide).combine_chunks().to_batches()[0]

    def _table(self, ids: Any, wide: Floats) -> Any:
        import pyarrow as pa

        values = wide.copy()
        scale_rows(values, list(self.columns.hops.values()), self.hop_scaling)
        return pa.table(dict(self.columns.of(ids, self._scores(values))))

    def _scores(self, rows: Floats) -> Array:
        if self.columns.what == "hops":
            return rows
        torch.set_num_threads(self.threads)
        with torch.inference_mode():
            score = score_by(self.network, self.columns.what, self.precision)
            return score(torch.from_numpy(rows)).float().numpy()
