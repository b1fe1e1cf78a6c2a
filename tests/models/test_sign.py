"""The network of few large operations equals its branches one by one."""

import pytest
import torch
from torch import nn

from sign.models.networks import layers as layers_module
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


def branch_by_branch(settings: SIGN, widths: list[int], classes: int) -> tuple[list[nn.Sequential], nn.Sequential]:
    """The network as the paper draws it: branches one after the other, then the classifier with its output layer."""

    def layers(inputs: int, units: int, count: int) -> nn.Sequential:
        modules: list[nn.Module] = []
        for layer in range(count):
            modules.append(nn.Linear(units if layer else inputs, units))
            modules += [nn.BatchNorm1d(units)] if settings.batch_norm else []
            modules += [nn.ReLU() if settings.activation == "relu" else nn.PReLU(), nn.Dropout(settings.dropout)]
        return nn.Sequential(*modules)

    branches = [layers(width, settings.inception_units, settings.inception_layers) for width in widths]
    wide = settings.inception_units * len(widths) if settings.inception_layers else sum(widths)
    classifier = layers(wide, settings.classification_units, settings.classification_layers)
    last = settings.classification_units if settings.classification_layers else wide
    return branches, nn.Sequential(*classifier, nn.Linear(last, classes))


@pytest.mark.parametrize("activation", ["relu", "prelu"])
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("layers", [(1, 1), (2, 0), (0, 2), (2, 3)])
@pytest.mark.parametrize("widths", [[4, 4, 4], [4, 4, 2], [3]], ids=str)
def test_it_equals_the_branches_one_by_one_in_weights_outputs_and_updates(
    activation: str, batch_norm: bool, layers: tuple[int, int], widths: list[int]
) -> None:
    settings = architecture(
        activation=activation, batch_norm=batch_norm, inception_layers=layers[0], classification_layers=layers[1]
    )
    torch.manual_seed(0)
    ours = settings.network({f"h{hop}": width for hop, width in enumerate(widths)}, 2).double()  # batch norm amplifies
    torch.manual_seed(0)
    branches, classifier = branch_by_branch(settings, widths, 2)
    theirs = nn.ModuleList([*branches, classifier]).double()
    count = [sum(parameter.numel() for parameter in each.parameters()) for each in (ours, theirs)]
    assert count[0] == count[1]
    optimisers = [torch.optim.SGD(each.parameters(), 0.1) for each in (ours, theirs)]
    for _ in range(3):
        rows = torch.randn(7, sum(widths), dtype=torch.float64)
        hops = rows.split(widths, dim=1)
        codes = torch.cat([branch(hop) for branch, hop in zip(branches, hops, strict=True)], 1)
        outputs = ours(rows), classifier(codes)
        torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-4)
        for output, optimiser in zip(outputs, optimisers, strict=True):
            optimiser.zero_grad()
            output.square().mean().backward()
            optimiser.step()
    codes = torch.cat([branch.eval()(hop) for branch, hop in zip(branches, hops, strict=True)], 1)
    torch.testing.assert_close(ours.eval()(rows), classifier.eval()(codes), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("activation", ["relu", "prelu"])
@pytest.mark.parametrize("widths", [[4, 4, 4], [4, 2, 2], [3]], ids=str)
@pytest.mark.parametrize("layers", [1, 2])
def test_a_large_batch_goes_hop_by_hop_to_the_same_outputs_and_updates(
    monkeypatch: pytest.MonkeyPatch, activation: str, widths: list[int], layers: int
) -> None:
    settings = architecture(activation=activation, inception_layers=layers)
    results = []
    for large in (0, layers_module.LARGE):
        monkeypatch.setattr(layers_module, "LARGE", large)
        torch.manual_seed(0)
        network = settings.network({f"h{hop}": width for hop, width in enumerate(widths)}, 2).double()
        optimiser = torch.optim.SGD(network.parameters(), 0.1)
        for _ in range(3):
            optimiser.zero_grad()
            network(torch.randn(7, sum(widths), dtype=torch.float64)).square().mean().backward()
            optimiser.step()
        results.append(network.state_dict())
    torch.testing.assert_close(*results)


def test_a_large_batch_goes_hop_by_hop_in_training_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers_module, "LARGE", 0)
    network = architecture(dropout=0.5, batch_norm=False).network(hops(2), 3)
    monkeypatch.setattr(network.branches[0], "forward", None)  # all hops at once
    rows = torch.randn(64, 8)
    assert not torch.equal(network(rows), network(rows))
    with pytest.raises(TypeError):
        network.eval()(rows)


def operations(branches: int, columns: tuple[int, ...] = (4,)) -> int:
    """The operations of a training step: forward, backward and Adam."""
    names = [f"h{hop}" for hop in range(branches)]
    widths = [columns[hop * len(columns) // branches] for hop in range(branches)]
    network = architecture(activation="relu", dropout=0.5).network(dict(zip(names, widths, strict=True)), 2)
    optimiser = torch.optim.Adam(network.parameters(), fused=True)
    rows = torch.randn(8, sum(widths))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        network(rows).square().mean().backward()
        optimiser.step()
    return sum(event.count for event in profiler.key_averages() if event.key.startswith("aten::"))


def test_a_step_has_as_many_operations_whatever_the_number_of_branches() -> None:
    assert operations(2) == operations(5) == operations(12)
    assert operations(4, (4, 3)) == operations(12, (4, 3))


def test_a_small_forward_pass_by_hand() -> None:
    settings = architecture(inception_units=1, classification_layers=0, activation="relu", batch_norm=False)
    network = settings.network({"X": 2, "p1": 2}, 1)
    weights = [[[[1.0], [-1.0]], [[0.5], [0.5]]], [[0.0], [1.0]], [[2.0, 3.0]], [-1.0]]
    for parameter, values in zip(network.parameters(), weights, strict=True):
        parameter.data = torch.tensor(values)
    # branches: relu(3 - 1) = 2 and relu((4 - 2) / 2 + 1) = 2; output: 2 * 2 + 3 * 2 - 1 = 9
    assert network(torch.tensor([[3.0, 1.0, 4.0, -2.0]])).item() == 9.0


def test_branches_have_their_layers_in_the_order_of_the_paper() -> None:
    branches = architecture(inception_layers=2, activation="relu").network(hops(3), 2).branches
    names = [type(module).__name__ for module in branches]
    assert names == ["HopLinear", "BatchNorm1d", "ReLU", "Dropout"] * 2


def test_dropout_acts_on_input_and_layers_in_training_only() -> None:
    rows = torch.randn(64, 8)
    for change in ({"dropout": 0.5}, {"input_dropout": 0.5}):
        network = architecture(batch_norm=False, **change).network(hops(2), 3)
        assert not torch.equal(network(rows), network(rows))
        network.eval()
        assert torch.equal(network(rows), network(rows))
