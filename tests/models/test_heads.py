"""Each head equals its formula, written out hop by hop, and trains all of its parameters."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from common.heads import CASES, SETTINGS, head, name_of
from omegaconf import OmegaConf
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, layer_norm

from sign.errors import FieldError, SignError
from sign.models.architecture import Architecture, from_plain, heads
from sign.models.gamlp import GAMLP
from sign.models.gpr import GPR
from sign.models.hoga import HOGA
from sign.models.nagphormer import NAGphormer
from sign.models.networks.attention import SelfAttention
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import HopLinear, separate_hops
from sign.models.networks.nagphormer import EncoderLayer
from sign.models.sagn import SAGN
from sign.models.sign import SIGN
from sign.prediction.scoring import inference_network
from sign.system.program import CONF

EQUAL = {"X": 4, "p1": 4, "p2": 4, "s1": 4}
LABELS = {"X": 4, "p1": 4, "l1": 3}  # a hop of another width
LAST = {"p2": 4, "s1": 4}  # without the features
ALONE = {"X": 4}
CLASSES = 3


def network_of(architecture: Architecture, hops: dict[str, int]) -> HopNetwork:
    """A network in evaluation whose running statistics and norms are not those of the initialisation."""
    torch.manual_seed(0)
    network = architecture.network(hops, CLASSES)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm1d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)  # type: ignore[arg-type]
            nn.init.uniform_(module.running_var, 0.5, 2)  # type: ignore[arg-type]
        if isinstance(module, nn.BatchNorm1d | nn.LayerNorm):
            nn.init.uniform_(module.weight, 0.5, 2)
            nn.init.uniform_(module.bias)
    for name, parameter in network.named_parameters():
        if name == "coefficients":
            nn.init.uniform_(parameter, -0.5, 1.5)
    return network.eval()


class Reference:
    """Parts that the formulas share, in double precision from the parameters of a network."""

    def __init__(self, network: HopNetwork, hops: dict[str, int], rows: Tensor) -> None:
        self.network = network
        self.state = {name: value.double() for name, value in network.state_dict().items()}
        self.hops = list(rows.double().split(list(hops.values()), dim=1))
        self.focal = list(hops).index("X") if "X" in hops else 0

    def linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.state[f"{name}.weight"].T + self.state.get(f"{name}.bias", 0)

    def modules(self, name: str, x: Tensor, hop: int = 0) -> Tensor:
        """A sequence of modules, of which batch norms and per-hop layers concern only the columns of a hop."""
        for number, module in enumerate(self.network.get_submodule(name)):  # type: ignore[arg-type]
            own = f"{name}.{number}"
            if isinstance(module, nn.Linear):
                x = self.linear(own, x)
            elif isinstance(module, HopLinear):
                x = self.hop_linear(own, x, hop)
            elif isinstance(module, nn.BatchNorm1d):
                units = x.shape[1]
                part = slice(hop * units, (hop + 1) * units)
                mean, variance, weight, bias = (
                    self.state[f"{own}.{key}"][part] for key in ("running_mean", "running_var", "weight", "bias")
                )
                x = (x - mean) / (variance + module.eps).sqrt() * weight + bias
            elif isinstance(module, nn.ReLU):
                x = x.clamp(min=0)
            elif type(module).__name__ in ("PReLU", "HopPReLU"):
                slopes = self.state[f"{own}.weight"]
                x = torch.where(x > 0, x, slopes[hop if len(slopes) > 1 else 0] * x)
            else:
                assert isinstance(module, nn.Dropout | nn.Unflatten), module
        return x

    def hop_linear(self, name: str, x: Tensor, hop: int) -> Tensor:
        first = 0
        for run in range(len(self.hops)):
            weights, biases = self.state[f"{name}.weights.{run}"], self.state[f"{name}.biases.{run}"]
            if hop < first + len(weights):
                return x @ weights[hop - first] + biases[hop - first]
            first += len(weights)
        raise AssertionError(name)

    def equal(self, name: str) -> list[Tensor]:
        """The hops, those of other columns than the first projected."""
        projected = {int(key.split(".")[-2]) for key in self.state if key.startswith(f"{name}.projections.")}
        return [
            self.linear(f"{name}.projections.{hop}", x) if hop in projected else x for hop, x in enumerate(self.hops)
        ]

    def attention(self, name: str, tokens: list[Tensor], heads: int) -> tuple[list[Tensor], list[Tensor]]:
        """What each token attends to, head by head and pair by pair, and the linear maps after the values."""
        units = tokens[0].shape[1]
        inputs = [self.linear(f"{name}.inputs", token).split(units, dim=1) for token in tokens]
        size = units // heads
        outputs = []
        for queries, *_ in inputs:
            parts = []
            for number in range(heads):
                own = slice(number * size, (number + 1) * size)
                scores = [(queries[:, own] * keys[:, own]).sum(1) / math.sqrt(size) for _, keys, *_ in inputs]
                weights = torch.stack(scores, 1).softmax(1)
                parts.append(sum(weights[:, [k]] * values[:, own] for k, (_, _, values, *_) in enumerate(inputs)))
            outputs.append(self.linear(f"{name}.projection", torch.cat(parts, 1)))
        return outputs, [maps[3] for maps in inputs if len(maps) > 3]

    def norm(self, name: str, x: Tensor) -> Tensor:
        return layer_norm(x, x.shape[1:], self.state[f"{name}.weight"], self.state[f"{name}.bias"])

    def readout(self, tokens: list[Tensor]) -> Tensor:
        others = [token for hop, token in enumerate(tokens) if hop != self.focal]
        if not others:
            return tokens[0]
        scores = torch.cat([self.linear("readout.score", token) for token in others], 1).softmax(1)
        return tokens[self.focal] + sum(scores[:, [k]] * token for k, token in enumerate(others))


def leaky(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, 0.2 * x)


def sign(a: Any, r: Reference) -> Tensor:
    codes = [r.modules("branches", x, hop=hop) for hop, x in enumerate(r.hops)]
    if a.aggregation == "concat":
        return r.modules("classifier", torch.cat(codes, 1))
    stacked = torch.stack(codes)
    aggregated = {"mean": stacked.mean(0), "max": stacked.amax(0), "sum": stacked.sum(0)}[a.aggregation]
    return r.modules("classifier", aggregated)


def sagn(a: Any, r: Reference) -> Tensor:
    codes = [r.modules("encoders", x, hop=hop) for hop, x in enumerate(r.hops)]
    mixed = r.linear("residual", r.hops[r.focal])
    parts = []
    for number in range(a.heads):
        own = slice(number * a.units, (number + 1) * a.units)
        to_own = (codes[r.focal][:, own] * r.state["to_own"][number]).sum(1)
        scores = [leaky((code[:, own] * r.state["to_hop"][number]).sum(1) + to_own) for code in codes]
        weights = torch.stack(scores, 1).softmax(1)
        parts.append(sum(weights[:, [k]] * code[:, own] for k, code in enumerate(codes)) + mixed[:, own])
    return r.modules("classifier", r.modules("finish", sum(parts) / a.heads))


def gamlp(a: Any, r: Reference) -> Tensor:
    encoded = (r.modules("encoders", x, hop=hop) for hop, x in enumerate(r.hops))
    hops = list(encoded) if a.layers else r.equal("encoders")
    act: Callable[[Tensor], Tensor] = torch.sigmoid if a.score == "sigmoid" else leaky
    scores: list[Tensor] = []
    for k, hop in enumerate(hops):
        if a.attention == "jk":
            reference = r.modules("reference", torch.cat(hops, 1))
        elif k == 0:
            reference = hop
        else:
            before = torch.cat(scores, 1).softmax(1)
            reference = sum(before[:, [j]] * hops[j] for j in range(k))  # type: ignore[assignment]
        scores.append(act(r.linear("score", torch.cat([reference, hop], 1))))
    weights = torch.cat(scores, 1).softmax(1)
    mixed = sum(weights[:, [k]] * hop for k, hop in enumerate(hops))
    if a.residual:
        mixed = mixed + r.linear("residual", hops[r.focal])
    return r.modules("classifier", r.modules("finish", mixed))


def hoga(a: Any, r: Reference) -> Tensor:
    tokens = [r.linear("tokens.1", x) for x in r.equal("tokens.0")]
    for number in range(a.layers):
        attended, gates = r.attention(f"layers.{number}.attention", tokens, a.heads)
        name = f"layers.{number}.finish.0"
        tokens = [r.norm(name, gate * x).clamp(min=0) for gate, x in zip(gates, attended, strict=True)]
    return r.modules("classifier", r.readout(tokens))


def nagphormer(a: Any, r: Reference) -> Tensor:
    tokens = [r.linear("tokens.1", x) for x in r.equal("tokens.0")]
    for number in range(a.layers):
        own = f"layers.{number}"
        attended, _ = r.attention(f"{own}.attention", [r.norm(f"{own}.norm", token) for token in tokens], a.heads)
        tokens = [token + x for token, x in zip(tokens, attended, strict=True)]
        inner = [gelu(r.linear(f"{own}.feed_forward.1", r.norm(f"{own}.feed_forward.0", token))) for token in tokens]
        tokens = [token + r.linear(f"{own}.feed_forward.3", x) for token, x in zip(tokens, inner, strict=True)]
    tokens = [r.norm(f"layers.{a.layers}", token) for token in tokens]
    return r.modules("classifier", r.readout(tokens))


def gpr(a: Any, r: Reference) -> Tensor:
    hops, names, values = r.equal("tokens"), r.network.names, r.state["coefficients"]
    if a.coefficients == "free":
        return r.modules("classifier", sum(value * hop for value, hop in zip(values, hops, strict=True)))
    total, first = torch.zeros_like(hops[0]), 0
    for letter in dict.fromkeys(name[0] for name in names if name != "X") or ["X"]:
        powers = {0: "X"} | {int(name[1:]): name for name in names if name != "X" and name[0] == letter}
        top = max(powers)
        nodes = [math.cos((j + 0.5) * math.pi / (top + 1)) for j in range(top + 1)]
        theta = values[first : first + top + 1].clamp(min=0)
        first += top + 1
        for k, name in powers.items():
            chebyshev = [np.polynomial.chebyshev.Chebyshev.basis(k)(node) for node in nodes]
            weight = 2 / (top + 1) * sum(t * c for t, c in zip(theta, chebyshev, strict=True))
            if name in names:
                total = total + (weight / 2 if k == 0 else weight) * hops[names.index(name)]
    return r.modules("classifier", total)


FORMULAS = {SIGN: sign, SAGN: sagn, GAMLP: gamlp, HOGA: hoga, NAGphormer: nagphormer, GPR: gpr}


def test_every_head_is_tested_and_has_a_configuration() -> None:
    own = {kind for kind in heads().values() if kind.__module__.startswith("sign.")}
    assert own == set(FORMULAS) == set(SETTINGS)
    targets = {OmegaConf.load(file).get("_target_") for file in (CONF / "model").glob("*.yaml")}
    assert {f"{kind.__module__}.{kind.__qualname__}" for kind in own} <= targets


@pytest.mark.parametrize("hops", [EQUAL, LABELS, LAST, ALONE], ids=["equal", "labels", "last", "alone"])
@pytest.mark.parametrize(("kind", "changes"), CASES, ids=name_of)
def test_a_head_equals_its_formula(kind: type[Architecture], changes: dict[str, Any], hops: dict[str, int]) -> None:
    architecture = head(kind, **changes)
    network, rows = network_of(architecture, hops), torch.randn(7, sum(hops.values()))
    reference = Reference(network, hops, rows)
    expected = reference.linear("output", FORMULAS[kind](architecture, reference))
    torch.testing.assert_close(network(rows).double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(network(rows[:1]), network(rows)[:1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("kind", "changes"), CASES, ids=name_of)
def test_every_parameter_has_a_gradient(kind: type[Architecture], changes: dict[str, Any]) -> None:
    network = network_of(head(kind, **changes), LABELS).train()
    cross_entropy(network(torch.randn(20, 11)), torch.arange(20) % CLASSES).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("hops", [EQUAL, LABELS], ids=["equal", "labels"])
@pytest.mark.parametrize(("kind", "changes"), CASES, ids=name_of)
def test_a_network_for_inference_computes_the_same(
    kind: type[Architecture], changes: dict[str, Any], hops: dict[str, int]
) -> None:
    network, rows = network_of(head(kind, **changes), hops), torch.randn(7, sum(hops.values()))
    torch.testing.assert_close(inference_network(network)(rows), network(rows), atol=1e-5, rtol=1e-5)
    separated = inference_network(network)
    separate_hops(separated)
    torch.testing.assert_close(separated(rows), network(rows), atol=1e-5, rtol=1e-5)
    assert not any(isinstance(module, HopLinear) for module in separated.modules())


@pytest.mark.parametrize(("kind", "changes"), CASES, ids=name_of)
def test_a_head_survives_its_plain_values(kind: type[Architecture], changes: dict[str, Any]) -> None:
    architecture = head(kind, **changes)
    assert from_plain(architecture.to_plain()) == architecture
    assert architecture.needs_two_rows == getattr(architecture, "batch_norm", False)


@pytest.mark.parametrize("kind", SETTINGS, ids=name_of)
def test_dropout_acts_in_training_only(kind: type[Architecture]) -> None:
    rates = {name: 0.5 for name in SETTINGS[kind] if name.endswith("dropout")}
    for name in rates:
        changes = {name: 0.5} | ({"batch_norm": False} if "batch_norm" in SETTINGS[kind] else {})
        network, rows = network_of(head(kind, **changes), EQUAL), torch.randn(30, 16)
        assert torch.equal(network(rows), network(rows))
        network.train()
        assert not torch.equal(network(rows), network(rows)), name


@pytest.mark.parametrize("heads", [1, 2])
def test_attention_and_its_gradients_are_those_of_torch(heads: int) -> None:
    torch.manual_seed(0)
    ours, theirs = SelfAttention(6, heads, 0.0), nn.MultiheadAttention(6, heads, batch_first=True)
    nn.init.normal_(ours.inputs.bias)
    pairs = {
        "in_proj_weight": ours.inputs.weight,
        "in_proj_bias": ours.inputs.bias,
        "out_proj.weight": ours.projection.weight,
        "out_proj.bias": ours.projection.bias,
    }
    theirs.load_state_dict(pairs)
    tokens = torch.randn(7, 5, 6)
    outputs, expected = ours(tokens)[0], theirs(tokens, tokens, tokens)[0]
    torch.testing.assert_close(outputs, expected)
    for result in (outputs, expected):
        result.square().sum().backward()
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(pairs[name].grad, parameter.grad, atol=1e-5, rtol=1e-4)


def test_a_layer_of_nagphormer_is_that_of_torch() -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(head(NAGphormer))  # type: ignore[arg-type]
    theirs = nn.TransformerEncoderLayer(6, 2, 12, 0.0, "gelu", batch_first=True, norm_first=True)
    values = list(ours.attention.parameters()), [*ours.feed_forward[1].parameters(), *ours.feed_forward[3].parameters()]
    norms = [*ours.norm.parameters(), *ours.feed_forward[0].parameters()]
    theirs.load_state_dict(dict(zip(theirs.state_dict(), [*values[0], *values[1], *norms], strict=True)))
    tokens = torch.randn(7, 5, 6)
    torch.testing.assert_close(ours(tokens), theirs(tokens))


def test_free_coefficients_start_as_those_of_pagerank_and_interpolated_ones_as_the_identity() -> None:
    free = head(GPR).network(EQUAL, CLASSES)
    torch.testing.assert_close(free.coefficients, torch.tensor([0.2, 0.2 * 0.8, 0.2 * 0.64, 0.2 * 0.8]))
    interpolated: Any = head(GPR, coefficients="interpolated").network({"X": 4, "p1": 4, "p2": 4}, CLASSES)
    weights = interpolated.basis @ interpolated.coefficients
    torch.testing.assert_close(weights, torch.tensor([1.0, 0.0, 0.0]), atol=1e-6, rtol=0)  # T_0, the filter 1


def test_wrong_sizes_are_one_message() -> None:
    for kind in (HOGA, NAGphormer):
        with pytest.raises(FieldError, match="units=6: must be a multiple of heads, 4"):
            head(kind, heads=4)
    with pytest.raises(SignError, match=r"model.aggregation=max: .*\(X 4, p1 4, l1 3\); use model.inception_layers=1"):
        head(SIGN, aggregation="max", inception_layers=0).network(LABELS, CLASSES)
