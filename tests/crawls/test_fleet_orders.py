"""A fleet is paused, shown, resumed and stopped, and one of its workers is removed."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.fleet import (
    NAME,
    Fleet,
    assert_nothing_lost_or_kept_twice,
    end,
    finish,
    shown,
    wait_for,
)
from tests.crawls.terminal import OnTerminal
from tests.crawls.test_monitoring import address_of, samples
from tests.sites.hosts import ManyHosts
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

pytestmark = pytest.mark.slow

PAGES = 200
HOSTS = 6


def ordered(url: str, *order: str) -> str:
    """What ``crawl-once fleet`` says to an order."""
    done = scrapy("fleet", url, *order)
    assert done.returncode == 0, done.stderr
    return done.stdout


def worker_of(status: dict[str, Any], folder: Path) -> str:
    """The name of the worker of a directory."""
    name: str
    (name,) = [name for name in status["workers"] if f"/{folder.name}/" in name]
    return name


def measured(address: str) -> dict[str, float]:
    """The metrics of a worker."""
    with urllib.request.urlopen(address) as answer:
        return samples(answer.read().decode())


def check_table(url: str, worker: str) -> None:
    """Expect a table with a worker, which Ctrl-C ends."""
    with OnTerminal(100, (sys.executable, "-m", "scrapy", "fleet", url)) as terminal:
        terminal.wait_for("paused, ")
        assert "pages/s" in terminal.screen.text
        assert worker[:10] in terminal.screen.text
        terminal.press(b"\x03")
        terminal.finish()


def test_a_fleet_obeys_orders_and_loses_nothing(redis_url: str, tmp_path: Path) -> None:
    # So slow that no order comes too late; a worker is dead after a minute only.
    slots = {f"127.0.0.{n}": {"delay": 3.0, "concurrency": 1} for n in range(1, HOSTS + 1)}
    slow = ("-s", f"DOWNLOAD_SLOTS={json.dumps(slots)}")
    lease = ("-s", "FLEET_LEASE_SECS=60")
    with ManyHosts(PAGES, HOSTS) as site:
        fleet = Fleet(site, redis_url, tmp_path, lease)
        first = fleet.start(1, *slow, "-s", "METRICS_PORT=0")
        second = fleet.start(2, *slow)
        third = None
        try:
            metrics = address_of(first)
            wait_for(site, HOSTS)
            wait_until(lambda: len(shown(redis_url)["workers"]) == 2)
            assert "paused" in ordered(redis_url, "pause")
            # What was under way is finished, and the rest is given back.
            wait_until(lambda: shown(redis_url)["counts"]["leased"] == 0)
            asked = site.total
            assert asked < PAGES
            # One that begins now is paused, too.
            third = fleet.start(3, *slow)
            wait_until(lambda: len(shown(redis_url)["workers"]) == 3)
            assert shown(redis_url)["is_paused"]
            wait_until(lambda: measured(metrics)["crawl_once_fleet_workers"] == 3)
            found = measured(metrics)
            assert found["crawl_once_fleet_paused"] == 1
            assert found["crawl_once_fleet_requests_leased"] == 0
            assert found["crawl_once_fleet_pages_fetched_total"] == asked
            check_table(redis_url, worker_of(shown(redis_url), fleet.folder(3)))
            removed = worker_of(shown(redis_url), fleet.folder(2))
            assert removed in ordered(redis_url, "remove-worker", removed)
            said = finish(second)
            assert "this worker was told to end" in said
            assert "the same command goes on" in said
            wait_until(lambda: len(shown(redis_url)["workers"]) == 2)
            assert site.total == asked
            ordered(redis_url, "resume")
            wait_for(site, asked + HOSTS)
            told = ordered(redis_url, "stop")
            assert len(told.splitlines()) == 2
            for process in (first, third):
                assert "the same command goes on" in finish(process)
            status = shown(redis_url)
            assert status["workers"] == {}
            assert status["counts"]["leased"] == status["counts"]["parked"] == 0
            assert site.total < PAGES
        finally:
            for process in filter(None, (first, second, third)):
                end(process)
        # The order concerned those that ran.
        fleet.crawl_into(2)
        # A worker that a host went to fetches a page once more if a shorter way to it is found.
        assert set(site.counts.values()) <= {1, 2}
        assert_nothing_lost_or_kept_twice(fleet)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (("puase",), "did you mean pause?"),
        (("remove-worker",), "remove-worker takes the name of one worker"),
        (("stop", "one"), "stop takes nothing more, got one"),
        (("--json", "pause"), "pause goes neither with --json nor with --forget"),
        (("pause",), f"no fleet {NAME}"),
    ],
)
def test_a_wrong_order_is_one_line(redis_url: str, order: tuple[str, ...], said: str) -> None:
    done = scrapy("fleet", "--name", NAME, redis_url, *order)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
