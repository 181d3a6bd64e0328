"""What stands in Redis was not written by this program: a page is not lost by that."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import redis

from crawler.fleet.deduplication import MAX_FAILED_JUDGEMENTS
from crawler.frontier.queue import MAX_TRIES
from neardup import Parameters
from neardup.document import analyse
from neardup.fingerprints.digest import payload_digest
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.crawls.fleet import MAX_SECS, NAME, Fleet, assert_nothing_lost_or_kept_twice, shown
from tests.sites.hosts import ManyHosts

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = f"crawl-once:{NAME}:"
PAGE = 5


async def keep_damaged(url: str, payload: bytes) -> None:
    """Keep a text of which nothing is said that the crawler understands."""
    server = await connect(url, PREFIX)
    shared = SharedDeduplicator(server, Parameters())
    await shared.open()
    document = replace(analyse("a text of its own"), payload=payload_digest(payload))
    await shared.judge(b"o" * 16, document, b"no page")
    await server.close()


def test_a_kept_text_without_a_page_of_ours_is_named_and_stops_no_worker(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(12, 2) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        asyncio.run(keep_damaged(redis_url, site.body_of(PAGE)))
        said = fleet.crawl_into(1)
        assert f"holds no page of ours in {PREFIX}t:0" in said
        assert_nothing_lost_or_kept_twice(fleet)


def test_a_worker_whose_every_judgement_fails_stops_and_what_broke_is_tried_again(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(60, 30) as site, redis.Redis.from_url(redis_url) as client:
        fleet = Fleet(site, redis_url, tmp_path)
        log = f"{PREFIX}{{{PREFIX}log}}:state"
        client.set(log, "written by another program")
        for _ in range(MAX_TRIES):
            process = fleet.start(1)
            output, errors = process.communicate(timeout=MAX_SECS)
            assert process.returncode == 1, output + errors
            assert f"the last {MAX_FAILED_JUDGEMENTS} judgements failed" in errors
            assert log in errors.partition("judgements failed")[2]
            status = shown(redis_url)
            assert status["workers"] == {}
            assert status["counts"]["leased"] == status["counts"]["parked"] == 0
        assert not fleet.rows()
        client.delete(log)
        fleet.crawl_into(1)
        assert_nothing_lost_or_kept_twice(fleet)
        assert shown(redis_url)["counts"]["failed"] == 0
