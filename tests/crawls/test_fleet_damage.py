"""What stands in Redis was not written by this program: a page is not lost by that."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from neardup import Parameters
from neardup.document import analyse
from neardup.fingerprints.digest import payload_digest
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.crawls.fleet import NAME, Fleet, end
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


async def mend(url: str) -> None:
    """Forget the payload."""
    server = await connect(url, PREFIX)
    async for key in server.client.scan_iter(match=f"{PREFIX}p:*"):
        await server.run("DEL", key)
    await server.close()


def test_a_page_whose_verdict_cannot_be_read_is_fetched_again(
    redis_url: str, tmp_path: Path
) -> None:
    with ManyHosts(12, 2) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        asyncio.run(keep_damaged(redis_url, site.body_of(PAGE)))
        process = fleet.start(1)
        try:
            output, errors = process.communicate(timeout=60)
        finally:
            end(process)
        assert process.returncode == 1, output + errors
        assert "holds no page of ours" in errors
        asyncio.run(mend(redis_url))
        fleet.crawl_into(1)
        assert {row["url"] for row in fleet.rows()} == {site.url_of(number) for number in range(12)}
