"""How many requests of a host a worker of a fleet holds."""

from __future__ import annotations

import pytest

from crawler.fleet_scheduler import requests_ahead


@pytest.mark.parametrize(
    ("delay_secs", "wanted"),
    [(0.0, 32), (1e-320, 32), (0.0625, 32), (0.1, 20), (0.5, 4), (1.0, 2), (60.0, 2)],
)
def test_requests_last_for_two_seconds_whatever_delay_a_site_asks_for(
    delay_secs: float, wanted: int
) -> None:
    assert requests_ahead(delay_secs) == wanted
