"""A worker that crawls a made-up web, as a process that tests kill: ``python -m`` this module."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.frontier.redis.shared_frontier import RedisFrontier
from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect
from tests.crawler.frontier.redis.fleet import PLAN, link
from tests.waiting import eventually

if TYPE_CHECKING:
    from crawler.frontier.request_records import Leased, QueuedLink
    from neardup.storage.redis.server import Server

PAGES = 1_000
HOSTS = 30
MAX_HOSTS = 4
LEASE_SECS = 3.0


def page(number: int) -> QueuedLink:
    """A page of the web, of which each links to three others."""
    return link(number % HOSTS, str(number))


class Crawl:
    """Fetches pages, and writes down when it began and ended each of them.

    Args:
        frontier: What it takes part in.
        log: A file to which many processes append lines.
    """

    def __init__(self, frontier: RedisFrontier, log: int, name: str) -> None:
        self._frontier, self._log, self._name = frontier, log, name

    def _note(self, *words: object) -> None:
        line = " ".join(map(str, (self._name, time.monotonic(), *words))) + "\n"
        os.write(self._log, line.encode())

    async def run(self) -> None:
        """Crawl until the fleet has nothing any more."""
        beating = asyncio.create_task(self._heartbeat())
        while not (await self._frontier.counts()).is_finished:
            rooms = dict.fromkeys(self._frontier.owned, 2)
            leased = await self._frontier.lease(8, rooms, most_hosts=MAX_HOSTS, room=2)
            if leased:
                await self._fetch(leased)
            else:
                await asyncio.sleep(0.05)
            await self._release()
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        await self._frontier.close()

    async def _heartbeat(self) -> None:
        while True:
            await self._frontier.heartbeat()
            await asyncio.sleep(LEASE_SECS / 12)

    async def _fetch(self, leased: list[Leased]) -> None:
        for one in leased:
            if self._frontier.is_overdue:
                return
            self._note("begins", one.host, one.url)
            await asyncio.sleep(0.002)
            number = int(one.request)
            found = [number * 3 + more for more in (1, 2, 3)]
            self._note("ends", one.host, one.url)
            await self._frontier.push([page(n) for n in [*found, number // 2] if n < PAGES])
            await self._frontier.finish([one], [])

    async def _release(self) -> None:
        """Give back every other host, so that hosts go from hand to hand."""
        await self._frontier.release({host: 0.01 for host in self._frontier.owned if host % 2})


async def _connected(url: str) -> Server:
    """Connect, also where the server is just being killed."""

    async def connected() -> Server | None:
        with suppress(ServerError):
            return await connect(url, "fleet")
        return None

    server = await eventually(connected)
    assert server is not None
    return server


async def _main(url: str, name: str, log: str) -> None:
    server = await _connected(url)
    frontier = RedisFrontier(server, name, lease_secs=LEASE_SECS, shards=4)
    await frontier.open(PLAN, {})
    await frontier.push([page(0)])
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    await Crawl(frontier, descriptor, name).run()
    await server.close()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
