"""Settings of the network. Free of torch."""

from dataclasses import dataclass
from typing import Literal

from sign.validation import Count, Power, Probability, Validated


@dataclass(frozen=True)
class Architecture(Validated):
    """The network: ``inception_layers`` a branch, then ``classification_layers``, then a Linear."""

    inception_layers: Power
    inception_units: Count
    classification_layers: Power
    classification_units: Count
    activation: Literal["relu", "prelu"]
    dropout: Probability
    input_dropout: Probability
    batch_norm: bool
