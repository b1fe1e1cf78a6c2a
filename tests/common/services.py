"""Services that tests need, named like their markers: a skip is a failure where the service is expected."""

import os
from typing import Any

import pytest

EXPECTED = "SIGN_SERVICES"  # environment variable: services that are there, such as "spark browser postgres"


def fail_if_expected(item: pytest.Item, report: Any) -> None:
    """Make a report of a skipped test one of a failure if the test needs a service that is expected."""
    expected = os.environ.get(EXPECTED, "").split()
    missing = [name for name in expected if item.get_closest_marker(name)]
    if report.skipped and missing:
        report.outcome = "failed"
        report.longrepr = f"{EXPECTED} names {missing[0]}, but the test was skipped: {report.longrepr}"
