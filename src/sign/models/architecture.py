"""Settings of the network. Free of torch."""

from dataclasses import dataclass
from typing import Literal

from sign.validation import Count, Power, Probability, Validated


@dataclass(frozen=True)
class Architecture(Validated):
    """Sizes of the network: layers and units of every branch and of the classifier, and their regularisation."""

    inception_layers: Power
    inception_units: Count
    classification_layers: Power
    classification_units: Count
    activation: Literal["relu", "prelu"]
    dropout: Probability
    input_dropout: Probability
    batch_norm: bool
