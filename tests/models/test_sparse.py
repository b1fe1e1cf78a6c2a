"""A network computes the same from wide rows of which some hops are sparse."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sign.graph.features import SparseFeatures
from sign.models.architecture import Architecture, heads
from sign.models.gamlp import GAMLP
from sign.models.networks.sparse import MixedRows, SparseRows
from sign.models.sign import SIGN

GAMLP_OF_HOPS = GAMLP(
    attention="jk", score="sigmoid", units=5, layers=1, classification_layers=1, residual=True, dropout=0.0,
    input_dropout=0.0, attention_dropout=0.0, batch_norm=False,
)  # fmt: skip


def sign_of_hops(**changes: Any) -> SIGN:
    settings: dict[str, Any] = {
        "inception_layers": 1, "inception_units": 5, "classification_layers": 1, "classification_units": 6,
        "activation": "relu", "dropout": 0.0, "input_dropout": 0.0, "batch_norm": False,
    }  # fmt: skip
    return SIGN(**(settings | changes))


def mixed(wide: torch.Tensor, widths: list[int], sparse: set[int]) -> MixedRows:
    """The same rows with some hops sparse."""
    hops = wide.split(widths, dim=1)
    dense = [hop for number, hop in enumerate(hops) if number not in sparse]
    matrix = torch.cat(dense, dim=1) if dense else torch.empty(len(wide), 0)
    entries = {number: SparseFeatures.from_blocks([hops[number].numpy()], widths[number]) for number in sparse}
    rows = {
        number: SparseRows(each.indptr, each.indices, each.values, each.columns) for number, each in entries.items()
    }
    return MixedRows(widths, matrix, rows)


@pytest.mark.parametrize(
    "architecture", [sign_of_hops(), sign_of_hops(inception_layers=2), GAMLP_OF_HOPS], ids=["sign", "sign-2", "gamlp"]
)
@given(
    st.lists(st.sampled_from([3, 3, 7]), min_size=1, max_size=4),
    st.sets(st.integers(0, 3)),
    st.integers(1, 6),
    st.integers(0, 99),
)
def test_outputs_and_gradients_are_those_of_dense_rows(
    architecture: Architecture, widths: list[int], sparse: set[int], rows: int, seed: int
) -> None:
    torch.manual_seed(seed)
    network = architecture.network({f"h{hop}": width for hop, width in enumerate(widths)}, 2)
    wide = torch.randn(rows, sum(widths)) * (torch.rand(rows, sum(widths)) < 0.4)
    results = []
    for inputs in (wide, mixed(wide, widths, {hop for hop in sparse if hop < len(widths)})):
        logits = network(inputs)
        gradients = torch.autograd.grad(logits.square().sum(), list(network.parameters()), allow_unused=True)
        results.append((logits, *gradients))
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or torch.allclose(ours, theirs, atol=1e-4, rtol=1e-4)


def test_input_dropout_drops_values_of_sparse_and_dense_hops() -> None:
    torch.manual_seed(0)
    network = sign_of_hops(input_dropout=0.5).network({"X": 50, "p1": 50}, 2)
    rows = mixed(torch.ones(40, 100), [50, 50], {0})
    dropped = network.input_dropout(rows)
    for values in (dropped.matrix, torch.from_numpy(dropped.sparse[0].values)):
        assert set(values.unique().tolist()) == {0.0, 2.0}
        assert values.mean().item() == pytest.approx(1, abs=0.1)
    assert network.eval().input_dropout(rows) is rows


def test_rows_are_selected_in_all_hops() -> None:
    wide, widths = torch.randn(9, 7), [3, 4]
    rows = mixed(wide, widths, {1})
    for chosen in (torch.tensor([4, 0, 4]), slice(2, 5)):
        selected = rows[chosen]
        assert len(selected) == len(wide[chosen])
        assert torch.equal(selected.matrix, wide[chosen][:, :3])
        assert torch.equal(selected.sparse[1].to_dense(), wide[chosen][:, 3:])


def test_heads_that_read_whole_rows_take_no_sparse_hops() -> None:
    taking = {name for name, kind in heads().items() if kind.takes_sparse_hops is not Architecture.takes_sparse_hops}
    assert taking == {"sign", "gamlp"}
    assert sign_of_hops().takes_sparse_hops
    assert not sign_of_hops(inception_layers=0).takes_sparse_hops
