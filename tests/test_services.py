"""Where CI says that a service is there, a test that is skipped for the lack of it fails."""

from types import SimpleNamespace

import pytest
from common.services import EXPECTED, fail_if_expected


@pytest.mark.parametrize(
    ("expected", "marker", "outcome"),
    [("spark browser", "browser", "failed"), ("spark", "browser", "skipped"), ("spark", "slow", "skipped")],
)
def test_a_skip_is_a_failure_where_the_service_is_expected(
    expected: str, marker: str, outcome: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(EXPECTED, expected)
    report = SimpleNamespace(outcome="skipped", skipped=True, longrepr="no browser")
    request.node.add_marker(marker)
    fail_if_expected(request.node, report)
    assert report.outcome == outcome
    assert (report.longrepr == "no browser") == (outcome == "skipped")


def test_other_outcomes_stay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EXPECTED, "browser")
    request.node.add_marker("browser")
    report = SimpleNamespace(outcome="passed", skipped=False, longrepr=None)
    fail_if_expected(request.node, report)
    assert report.outcome == "passed"
