"""Many workers on one Redis crawl a site as one crawler would."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.pages.live_parameters import history
from crawler.storage.database import open_for_reading
from tests.crawls.command import report, scrapy, start_scrapy
from tests.crawls.fleet import (
    LEASE_SECS,
    NAME,
    Fleet,
    assert_no_worker_fetched_twice,
    assert_nothing_lost_or_kept_twice,
    end,
    finish,
    fleet_settings,
    shown,
    wait_for,
)
from tests.sites.hosts import ManyHosts
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.redis import RedisServer

PAGES = 120
HOSTS = 6
DELAY_SECS = 0.3


@pytest.fixture
def site() -> Iterator[ManyHosts]:
    with ManyHosts(PAGES, HOSTS, answer_secs=0.02) as served:
        yield served


def test_four_workers_each_fetch_a_page_once_and_keep_what_one_keeps(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(PAGES, HOSTS, answer_secs=0.02, agents=2) as site:
        # On a busy machine no worker is taken for dead, whose pages would be fetched twice.
        fleet = Fleet(site, redis_url, tmp_path, ("-s", "FLEET_LEASE_SECS=60"))
        outputs = fleet.crawl(4)
    assert len(site.counts) == PAGES
    assert_no_worker_fetched_twice(site)
    assert_nothing_lost_or_kept_twice(fleet)
    assert list(site.overlaps()) == []
    for said in outputs:
        assert f"fleet {NAME}: {site.counts.total():,} pages by all workers" in said
    assert len({asked.agent for asked in site.asked}) > 1
    whole = tmp_path / "whole"
    done = scrapy("merge", *map(str, fleet.folders), str(whole))
    assert done.returncode == 0, done.stderr
    assert scrapy("verify", str(whole)).returncode == 0
    assert report(whole)["kept"] == len({site.cluster_of(number) for number in range(PAGES)})


def test_an_interrupted_worker_gives_back_what_it_held_and_the_same_command_goes_on(
    site: ManyHosts, redis_url: str, tmp_path: Path
) -> None:
    fleet = Fleet(site, redis_url, tmp_path)
    with fleet.running(1) as (process,):
        wait_for(site, PAGES // 4)
        process.send_signal(signal.SIGINT)
        said = finish(process)
    assert "not finished" in said
    assert "the same command goes on" in said
    status = shown(redis_url)
    assert status["workers"] == {}
    assert status["counts"]["leased"] == status["counts"]["parked"] == 0
    assert status["counts"]["waiting"] > 0
    fleet.crawl(1)
    assert set(site.counts.values()) == {1}
    assert_nothing_lost_or_kept_twice(fleet)


def test_a_worker_that_joins_late_gets_hosts_and_none_is_asked_by_two(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(PAGES, HOSTS, answer_secs=0.02, agents=2) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        first = fleet.start(1, *slow(HOSTS))
        try:
            wait_for(site, HOSTS)
            second = fleet.start(2, *slow(HOSTS))
            try:
                fleet.finish([first, second])
            finally:
                end(second)
        finally:
            end(first)
        agents = {asked.agent for asked in site.asked}
        assert len(agents) == 2
        # The delay is kept over a hand-over, too.
        assert min(site.handovers()) >= DELAY_SECS
        assert set(site.counts.values()) == {1}
        assert list(site.overlaps()) == []
        assert_nothing_lost_or_kept_twice(fleet)


def slow(hosts: int) -> tuple[str, str]:
    """Settings with which each host is asked one thing at a time."""
    slots = {f"127.0.0.{n}": {"delay": DELAY_SECS, "concurrency": 1} for n in range(1, hosts + 1)}
    return ("-s", f"DOWNLOAD_SLOTS={json.dumps(slots)}")


def test_max_pages_counts_the_pages_of_all_workers(
    site: ManyHosts, redis_url: str, tmp_path: Path
) -> None:
    fleet = Fleet(site, redis_url, tmp_path, ("-a", "max_pages=30"))
    fleet.crawl(2)
    # What is under way when the limit is reached is fetched too.
    assert 30 <= site.total < 30 + 2 * 32


def test_tuning_one_worker_tunes_the_fleet(site: ManyHosts, redis_url: str, tmp_path: Path) -> None:
    fleet = Fleet(site, redis_url, tmp_path)
    with fleet.running(2) as processes:
        wait_for(site, 20)
        site.hold()
        done = scrapy("tune", str(fleet.folder(1)), "max_distance=5")
        assert done.returncode == 0, done.stderr
        wait_until(lambda: tuned(redis_url)["max_distance"] == 5)
        done = scrapy("tune", redis_url, "min_similarity=0.9")
        assert done.returncode == 0, done.stderr
        site.go_on()
        fleet.finish(processes)
    for folder in fleet.folders:
        with closing(open_for_reading(folder)) as connection:
            newest = history(connection.execute)[-1].parameters
        assert (newest.max_distance, newest.min_similarity) == (5, 0.9)


def tuned(url: str) -> dict[str, object]:
    """What ``crawl-once tune REDIS_URL --json`` says."""
    found: dict[str, object] = json.loads(scrapy("tune", url, "--json").stdout)["current"]
    return found


def test_a_fleet_that_does_not_end_is_shown_with_all_that_it_holds_and_printed(
    site: ManyHosts, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.crawls.fleet.MAX_SECS", 1)
    fleet = Fleet(site, redis_url, tmp_path)
    with fleet.running(2) as processes:
        wait_for(site, 20)
        site.hold()
        with pytest.raises(AssertionError, match="a worker did not end") as failure:
            fleet.finish(processes)
        site.go_on()
    told = str(failure.value)
    assert "identity" in told
    assert ":leases" in told
    for folder in fleet.folders:
        assert str(folder) in told


def test_a_fleet_is_shown_and_forgotten(redis_url: str, tmp_path: Path) -> None:
    with ManyHosts(12, 2) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        fleet.crawl(1)
        done = scrapy("fleet", redis_url)
        assert done.returncode == 0, done.stderr
        assert f"fleet {NAME} at 127.0.0.1" in done.stdout
        assert "finished, 12 pages fetched" in done.stdout
        assert shown(redis_url)["identity"]["shards"] == "1"
        done = scrapy("fleet", redis_url, "--forget", NAME)
        assert done.returncode == 2
        assert "--yes" in done.stderr
        done = scrapy("fleet", redis_url, "--forget", NAME, "--yes")
        assert done.returncode == 0, done.stderr
        assert "no fleet test" in scrapy("fleet", redis_url, "--name", NAME).stderr
        # What the directory holds was fetched for a fleet that Redis knows no more.
        done = fleet.run(1)
        assert done.returncode == 2
        assert "a later one of that name" in done.stderr


class TestRefused:
    """What does not go with a fleet is said in one line, before anything is asked for."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("-a", "revisit=yes"), "a fleet visits each page once"),
            (("-o", "pages.jsonl"), "a feed has the pages of one worker only"),
            (("-s", "FLEET_NAME=a b"), "FLEET_NAME must be"),
            (("-s", "FLEET_LEASE_SECS=0"), "FLEET_LEASE_SECS must be at least"),
            (("-s", "FLEET_REDIS_URL=redis://127.0.0.1:1/0"), "Redis at 127.0.0.1:1"),
            (("-s", "SCHEDULER=scrapy.core.scheduler.Scheduler"), "needs its own SCHEDULER"),
        ],
    )
    def test_says_why(
        self, redis_url: str, tmp_path: Path, arguments: tuple[str, ...], said: str
    ) -> None:
        with ManyHosts(2, 1) as site:
            done = Fleet(site, redis_url, tmp_path).run(1, *arguments)
            assert done.returncode == 2, done.stderr
            assert said in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert site.total == 0

    def test_a_mirror(self, tmp_path: Path) -> None:
        with ManyHosts(2, 1) as site:
            enabled = ("-s", "FLEET_ENABLED=True")
            done = scrapy("mirror", site.url, str(tmp_path / "mirror"), *enabled)
            assert done.returncode == 2
            assert "a mirror is made by one crawl alone" in done.stderr
            assert site.total == 0

    def test_another_plan(self, redis_url: str, tmp_path: Path) -> None:
        with ManyHosts(4, 1) as site:
            fleet = Fleet(site, redis_url, tmp_path)
            fleet.crawl(1)
            done = fleet.run(2, "-a", "deny=x")
            assert done.returncode == 2
            assert "was begun with plan" in done.stderr

    def test_the_directory_of_a_crawl_that_is_alone_and_the_other_way(
        self, redis_url: str, tmp_path: Path
    ) -> None:
        with ManyHosts(4, 1) as site:
            fleet = Fleet(site, redis_url, tmp_path)
            alone = ("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={fleet.folder(1)}")
            assert scrapy(*alone).returncode == 0
            assert "holds a crawl of its own" in fleet.run(1).stderr
            fleet.crawl_into(2)
            done = scrapy(*alone[:-1], f"JOBDIR={fleet.folder(2)}")
            assert done.returncode == 2
            assert "belongs to a worker of the fleet" in done.stderr


@pytest.mark.parametrize("how", ["paused", "full"])
def test_workers_wait_for_a_redis_that_does_not_answer(
    site: ManyHosts, own_redis: RedisServer, tmp_path: Path, how: str
) -> None:
    fleet = Fleet(site, own_redis.url, tmp_path)
    with fleet.running(2) as processes:
        wait_for(site, PAGES // 4)
        if how == "paused":
            own_redis.stand_still(2 * LEASE_SECS)
        else:
            own_redis.be_full(LEASE_SECS)
        said = "".join(fleet.finish(processes))
    if how == "full":
        assert "its memory is full" in said
        assert "answers again" in said
    assert_nothing_lost_or_kept_twice(fleet)


def test_ctrl_c_ends_a_worker_also_where_redis_is_gone(
    site: ManyHosts, own_redis: RedisServer, tmp_path: Path
) -> None:
    fleet = Fleet(site, own_redis.url, tmp_path)
    with fleet.running(1) as (process,):
        wait_for(site, PAGES // 4)
        own_redis.kill()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=40)
    assert "did not answer: what this worker held waits again" in output
    assert "Traceback" not in errors, errors
    own_redis.start()
    fleet.crawl(1)
    assert_nothing_lost_or_kept_twice(fleet)


def test_directories_of_workers_are_whole(site: ManyHosts, redis_url: str, tmp_path: Path) -> None:
    fleet = Fleet(site, redis_url, tmp_path)
    with fleet.running(2) as (first, second):
        wait_for(site, PAGES // 3)
        end(first)
        finish(second)
    for folder in fleet.folders:
        done = scrapy("verify", str(folder))
        assert done.returncode == 0, done.stdout


def test_a_redis_that_lost_everything_ends_its_workers(
    site: ManyHosts, own_redis: RedisServer, tmp_path: Path
) -> None:
    fleet = Fleet(site, own_redis.url, tmp_path)
    with fleet.running(1) as (process,):
        wait_for(site, PAGES // 4)
        site.hold()
        with own_redis.client() as client:
            client.flushall()
        site.go_on()
        said = finish(process, 1)
    assert "Redis has lost the fleet" in said


def test_a_worker_that_fails_reads_no_long_list_on(own_redis: RedisServer, tmp_path: Path) -> None:
    addresses = tmp_path / "list.txt"
    addresses.write_text("".join(f"http://127.0.0.1:1/{n}\n" for n in range(60_000)))
    settings = fleet_settings(own_redis.url, tmp_path / "worker") | {"RETRY_ENABLED": "False"}
    options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    process = start_scrapy("crawl", "urls", "-a", f"file={addresses}", *options)
    try:
        with own_redis.client() as client:
            wait_until(lambda: client.dbsize() > 0 and queued_in(own_redis.url) > 0)
            client.flushall()
        said = finish(process, 1)
    finally:
        end(process)
    assert "Redis has lost the fleet" in said


def queued_in(url: str) -> int:
    """Requests that wait in the only fleet of a Redis."""
    return int(shown(url)["counts"]["waiting"])


def test_a_cluster_serves_a_fleet(cluster_url: str, tmp_path: Path) -> None:
    with ManyHosts(PAGES, HOSTS, answer_secs=0.02, agents=2) as site:
        # On a busy machine no worker is taken for dead, whose pages would be fetched twice.
        fleet = Fleet(site, cluster_url, tmp_path, ("-s", "FLEET_LEASE_SECS=60"))
        fleet.crawl(2)
    assert len(site.counts) == PAGES
    assert_no_worker_fetched_twice(site)
    assert_nothing_lost_or_kept_twice(fleet)
    told = shown(cluster_url)
    assert told["counts"]["done"] >= PAGES
    assert told["identity"]["shards"] == "4"
