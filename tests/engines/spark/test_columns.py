"""A task of the plan columns, without Spark: its columns have the bits of the local engine."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Diffusion
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import powers
from sign.engines.spark.block_tasks import stream
from sign.engines.spark.columns import ColumnTask, SharedMatrix
from sign.engines.spark.records import Record, pack
from sign.engines.spark.shared_folder import SharedFolder
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.ppr import PersonalizedPageRank

pytestmark = pytest.mark.spark


def task_of(diffusion: Diffusion, folder: Path) -> ColumnTask:
    shared = SharedFolder(None, f"file:{folder}")
    return ColumnTask(
        operator=diffusion.operator,
        matrix=SharedMatrix.of(diffusion.matrix, shared),
        rows={power: shared.share(rows, "rows") for power, rows in diffusion.rows.items()},
        wanted=frozenset(diffusion.wanted),
        used=shared.share(diffusion.used, "used"),
        dtype=diffusion.dtype,
        threads=1,
    )


@pytest.mark.parametrize("operator", [NormalizedAdjacency(), PersonalizedPageRank(alpha=0.5)], ids=["one", "many"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_task_yields_the_bits_of_the_local_engine(operator: Operator, dtype: str, tmp_path: Path) -> None:
    graph, used = Communities(nodes=150, edges=600, features=12).load(), np.arange(0, 150, 4)
    rows = {1: None, 2: None, 3: used if operator.is_one_product else None}
    diffusion = Diffusion(operator, operator.matrix(graph), graph.features, rows, {1, 3}, used, dtype)
    halves = (slice(0, 100), slice(100, 150))
    records = [pack(Record(5, other=7, first=h.start, values=graph.features[h, 5:12])) for h in halves]
    result = {power: np.empty((len(used), 7), np.float32) for power in (1, 3)}
    for record in stream(task_of(diffusion, tmp_path)(iter(records))):
        assert record.key == 5
        values = record.floats(7)
        result[record.kind][record.first : record.first + len(values)] = values
    x = np.ascontiguousarray(graph.features[:, 5:12])
    for power, expected in powers(diffusion, x, LocalEngine(threads=1).product):
        assert (result[power] == expected[used]).all()


def test_columns_of_two_tasks_are_refused(tmp_path: Path) -> None:
    graph, operator = Communities(nodes=50, edges=100, features=4).load(), NormalizedAdjacency()
    diffusion = Diffusion(operator, operator.matrix(graph), graph.features, {1: None}, {1})
    records = [pack(Record(start, other=2, values=graph.features[:, start : start + 2])) for start in (0, 2)]
    with pytest.raises(RuntimeError, match="received the columns from 0 and from 2"):
        list(task_of(diffusion, tmp_path)(iter(records)))
