"""How many requests of a host a worker of a fleet holds, and how long one rests that it leaves."""

from __future__ import annotations

import pytest

from crawler.scheduling.fleet_scheduler import requests_ahead, rest_of


@pytest.mark.parametrize(
    ("delay_secs", "wanted"),
    [(0.0, 32), (1e-320, 32), (0.0625, 32), (0.1, 20), (0.5, 4), (1.0, 2), (60.0, 2)],
)
def test_requests_last_for_two_seconds_whatever_delay_a_site_asks_for(
    delay_secs: float, wanted: int
) -> None:
    assert requests_ahead(delay_secs) == wanted


@pytest.mark.parametrize(
    ("delay_secs", "since_secs", "pause_secs", "wanted"),
    [
        (10.0, 0.0, 0.0, 10.0), (10.0, 4.0, 0.0, 6.0), (10.0, 10.0, 0.0, 0.0),
        (10.0, 60.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (10.0, None, 0.0, 10.0),
        (10.0, 4.0, 30.0, 30.0), (10.0, 4.0, 5.0, 6.0),
    ],
)  # fmt: skip
def test_a_host_that_is_left_rests_for_what_is_left_of_its_delay(
    delay_secs: float, since_secs: float | None, pause_secs: float, wanted: float
) -> None:
    assert rest_of(delay_secs, since_secs, pause_secs) == wanted
