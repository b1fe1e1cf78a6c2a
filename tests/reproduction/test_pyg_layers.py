"""The layers that the paper says SIGN contains: equal weights give equal outputs."""

from collections.abc import Callable

import pytest
import torch

from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.reproduction.pyg_layers import PLAIN, REDUCTIONS, Built

Configured = Callable[..., Settings]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_equal_weights_give_equal_outputs(configured: Configured, name: str) -> None:
    words, outputs = REDUCTIONS[name]
    ours, theirs = outputs(configured(*words, *PLAIN))
    assert len(ours) == 2708
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_mlp_sees_the_features_alone(configured: Configured) -> None:
    built = Built(configured("model=mlp", *PLAIN))
    assert built.datamodule.hops.names == ["X"]
    assert torch.equal(built.rows, built.features)
    assert len(built.network.branches) == 1


def test_sign_with_several_operators_has_their_branches(configured: Configured) -> None:
    data = prepare(configured("model.p=2", "model.s=1", "model.t=1"))
    assert data.hops.names == ["X", "p1", "p2", "s1", "t1"]
    assert configured("model.p=4", "model.t=1").title == "SIGN(4,0,1)"
    assert configured("model.p=3", "model.d=1", "model.f=1").title == "SIGN(3,1,1)"
    assert configured("model=sgcn", "model.p=2").title == "S-GCN(L=2)"
