"""The network equals a forward pass by hand."""

import numpy as np
import pytest
import torch

from sign.models.networks.sign import SIGNNetwork
from sign.models.sign import SIGN


def architecture(**changes: object) -> SIGN:
    settings: dict = {
        "inception_layers": 1,
        "inception_units": 5,
        "classification_layers": 1,
        "classification_units": 6,
        "activation": "prelu",
        "dropout": 0.0,
        "input_dropout": 0.0,
        "batch_norm": True,
    }
    return SIGN(**(settings | changes))


def hops(count: int, columns: int = 4) -> dict[str, int]:
    return {f"p{power}" if power else "X": columns for power in range(count)}


def by_hand(network: SIGNNetwork, hops: list[np.ndarray]) -> np.ndarray:
    """The paper's formula in numpy, with the network's weights (in evaluation mode)."""

    def layers(modules: torch.nn.Sequential, x: np.ndarray) -> np.ndarray:
        for module in modules:
            if isinstance(module, torch.nn.Linear):
                x = x @ module.weight.detach().numpy().T + module.bias.detach().numpy()
            elif isinstance(module, torch.nn.BatchNorm1d):
                mean, variance = module.running_mean.numpy(), module.running_var.numpy()
                x = (x - mean) / np.sqrt(variance + module.eps)
                x = x * module.weight.detach().numpy() + module.bias.detach().numpy()
            elif isinstance(module, torch.nn.PReLU):
                x = np.where(x > 0, x, module.weight.item() * x)
            elif isinstance(module, torch.nn.ReLU):
                x = np.maximum(x, 0)
        return x

    codes = [layers(branch, hop) for branch, hop in zip(network.branches, hops, strict=True)]
    return layers(torch.nn.Sequential(network.output), layers(network.classifier, np.concatenate(codes, 1)))


@pytest.mark.parametrize("activation", ["relu", "prelu"])
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("layers", [(1, 1), (2, 0), (0, 2), (2, 3)])
def test_it_equals_the_formula(activation: str, batch_norm: bool, layers: tuple[int, int]) -> None:
    torch.manual_seed(0)
    settings = architecture(
        activation=activation, batch_norm=batch_norm, inception_layers=layers[0], classification_layers=layers[1]
    )
    network = settings.network(hops(3), 2)
    rows = torch.randn(7, 12)
    network(rows)  # moves the running statistics of the batch norms away from 0 and 1
    network.eval()
    expected = by_hand(network, np.split(rows.numpy(), 3, axis=1))
    np.testing.assert_allclose(network(rows).detach().numpy(), expected, atol=1e-5)


def test_a_small_forward_pass_by_hand() -> None:
    settings = architecture(inception_units=1, classification_layers=0, activation="relu", batch_norm=False)
    network = settings.network({"X": 2, "p1": 2}, 1)
    weights = [[[1.0, -1.0]], [0.0], [[0.5, 0.5]], [1.0], [[2.0, 3.0]], [-1.0]]
    for parameter, values in zip(network.parameters(), weights, strict=True):
        parameter.data = torch.tensor(values)
    # branches: relu(3 - 1) = 2 and relu((4 - 2) / 2 + 1) = 2; output: 2 * 2 + 3 * 2 - 1 = 9
    assert network(torch.tensor([[3.0, 1.0, 4.0, -2.0]])).item() == 9.0


def test_branches_have_their_layers_in_the_order_of_the_paper() -> None:
    branch = architecture(inception_layers=2, activation="relu").network(hops(1), 2).branches[0]
    names = [type(module).__name__ for module in branch]
    assert names == ["Linear", "BatchNorm1d", "ReLU", "Dropout"] * 2


def test_dropout_acts_on_input_and_layers_in_training_only() -> None:
    rows = torch.randn(64, 8)
    for change in ({"dropout": 0.5}, {"input_dropout": 0.5}):
        network = architecture(batch_norm=False, **change).network(hops(2), 3)
        assert not torch.equal(network(rows), network(rows))
        network.eval()
        assert torch.equal(network(rows), network(rows))
