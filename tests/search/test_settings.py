"""The section ``search`` of the configuration."""

import pytest

from sign.config.configure import compose
from sign.errors import SignError
from sign.search.settings import search_settings


def test_the_defaults_are_valid() -> None:
    search = search_settings(compose())
    assert (search.trials, search.runs, search.pruner, search.baseline) == (20, 1, "none", False)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("search.trials=0", "search.trials=0: must be an integer >= 1"),
        ("search.slots=0", "search.slots=0: must be an integer >= 1"),
        ("search.pruner=soon", "search.pruner=soon: "),
        ("search.study=a/b", "search.study=a/b: is used as a folder name"),
        ("+search.speed=1", "search.speed"),
    ],
)
def test_a_wrong_setting_is_explained(override: str, message: str) -> None:
    with pytest.raises(SignError) as error:
        search_settings(compose(override))
    assert str(error.value).startswith(message)
