"""A fleet is paused, shown, resumed and stopped, and its workers are removed and begun again."""

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
    assert_no_worker_fetched_twice,
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
    from subprocess import Popen
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
    """The metrics of a worker, which tell of its fleet when it has joined."""
    with urllib.request.urlopen(address) as answer:
        return samples(answer.read().decode())


def knows(address: str, workers: int, *, is_paused: bool) -> bool:
    """Whether a worker has joined, knows so many and whether they are paused.

    Redis names a worker already while it looks whether it can join, and not for a while after that.
    """
    found = measured(address)
    wanted = {"crawl_once_fleet_workers": workers, "crawl_once_fleet_paused": is_paused}
    return found == found | wanted


def check_report(url: str, worker: str) -> None:
    """Expect a report with a worker, which Ctrl-C ends."""
    with OnTerminal(100, (sys.executable, "-m", "scrapy", "fleet", url)) as terminal:
        terminal.wait_for(", hosts: ")  # at the end of a worker's line
        assert "paused, " in terminal.screen.text
        assert "a second" in terminal.screen.text
        assert worker[:10] in terminal.screen.text
        terminal.press(b"\x03")
        terminal.finish()


def remove(fleet: Fleet, number: int, process: Popen[str]) -> None:
    """Let ``remove-worker`` end a worker, and wait until the fleet is without it."""
    worker = worker_of(shown(fleet.url), fleet.folder(number))
    assert worker in ordered(fleet.url, "remove-worker", worker)
    said = finish(process)
    assert "this worker was told to end" in said
    assert "the same command goes on" in said
    wait_until(lambda: worker not in shown(fleet.url)["workers"])


def test_a_fleet_obeys_orders_and_loses_nothing(redis_url: str, tmp_path: Path) -> None:
    # So slow that no order comes too late; a worker is dead after a minute only.
    slots = {f"127.0.0.{n}": {"delay": 5.0, "concurrency": 1} for n in range(1, HOSTS + 1)}
    slow = ("-s", f"DOWNLOAD_SLOTS={json.dumps(slots)}", "-s", "METRICS_PORT=0")
    lease = ("-s", "FLEET_LEASE_SECS=60")
    with ManyHosts(PAGES, HOSTS) as site:
        fleet = Fleet(site, redis_url, tmp_path, lease)
        first = fleet.start(1, *slow)
        second = fleet.start(2, *slow)
        third = None
        try:
            metrics = address_of(first)
            of_second = address_of(second)
            wait_for(site, HOSTS)
            wait_until(lambda: knows(of_second, 2, is_paused=False))
            assert "paused" in ordered(redis_url, "pause")
            # What was under way is finished, and the rest is given back.
            wait_until(lambda: shown(redis_url)["counts"]["leased"] == 0)
            asked = site.total
            # One that begins now is paused, too.
            third = fleet.start(3, *slow)
            of_third = address_of(third)
            wait_until(lambda: knows(of_third, 3, is_paused=True))
            wait_until(lambda: knows(metrics, 3, is_paused=True))
            assert shown(redis_url)["is_paused"]
            found = measured(metrics)
            assert found["crawl_once_fleet_requests_leased"] == 0
            assert found["crawl_once_fleet_pages_fetched_total"] == asked
            check_report(redis_url, worker_of(shown(redis_url), fleet.folder(3)))
            remove(fleet, 2, second)
            assert site.total == asked
            ordered(redis_url, "resume")
            wait_for(site, asked + HOSTS)
            # A rolling restart: one after the other ends, and its command is given again.
            remove(fleet, 1, first)
            first = fleet.start(1, *slow)
            metrics = address_of(first)
            wait_until(lambda: knows(metrics, 2, is_paused=False))
            remove(fleet, 3, third)
            third = fleet.start(3, *slow)
            of_third = address_of(third)
            wait_until(lambda: knows(of_third, 2, is_paused=False))
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
        assert_no_worker_fetched_twice(site)
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
