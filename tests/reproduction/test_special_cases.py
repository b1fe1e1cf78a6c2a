"""The layers that SIGN contains as special cases: equal weights give PyG's outputs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import prepare
from sign.reproduction.special_cases import SPECIAL_CASES, UNSCALED, LayerComparison, LayerInputs, SpecialCaseTable

Configured = Callable[..., Settings]


@pytest.mark.parametrize("name", SPECIAL_CASES)
def test_equal_weights_give_equal_outputs(configured: Configured, name: str) -> None:
    overrides, outputs = SPECIAL_CASES[name]
    torch.manual_seed(0)  # PyG's layer draws the weights
    ours, theirs = outputs(configured(*overrides, *UNSCALED))
    assert len(ours) == 2708
    # the change of basis of ChebNet in single precision leaves up to 1.5e-5
    torch.testing.assert_close(ours, theirs, atol=5e-5, rtol=1e-5)


def test_different_outputs_are_reported_and_raise(tmp_path: Path) -> None:
    ours, theirs = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, -4.0]])
    rows = [LayerComparison.of("same", theirs, theirs), LayerComparison.of("other", ours, theirs)]
    assert rows[1] == LayerComparison("other", difference=6.0, size=4.0, equal=False)
    table = SpecialCaseTable(rows)
    table.write(tmp_path)
    assert [row["equal"] for row in json.loads((tmp_path / "reductions.json").read_text())["rows"]] == [True, False]
    assert "| other | 6.0e+00 | 4.00 |" in (tmp_path / "reductions.md").read_text()
    with pytest.raises(SignError, match=r"^other: outputs differ from PyG's"):
        table.check()
    SpecialCaseTable(rows[:1]).check()


def test_mlp_reads_only_the_features(configured: Configured) -> None:
    inputs = LayerInputs(configured("model=mlp", *UNSCALED))
    assert inputs.datamodule.hops.names == ["X"]
    assert torch.equal(inputs.rows, inputs.features)
    assert inputs.network.names == ["X"]


def test_sign_has_one_branch_per_power_of_each_operator(configured: Configured) -> None:
    data = prepare(configured("model.p=2", "model.s=1", "model.t=1"))
    assert data.hops.names == ["X", "p1", "p2", "s1", "t1"]
    assert configured("model.p=4", "model.t=1").title == "SIGN(4,0,1)"
    assert configured("model.p=3", "model.d=1", "model.f=1").title == "SIGN(3,1,1)"
    assert configured("model=sgcn", "model.p=2").title == "S-GCN(L=2)"
