"""One small face for two frontiers, of one machine and of a fleet: both keep one contract."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from crawler.frontier.order import NewRequest
from crawler.frontier.queue import RequestQueue
from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.frontier.seen import SeenSet
from crawler.storage.database import Database
from neardup.storage.redis.connecting import connect
from tests.crawler.frontier.redis.fleet import PLAN, link

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path
    from typing import Any

    from crawler.frontier.request_records import Leased
    from neardup.storage.redis.server import Server


class Driver(Protocol):
    """A frontier with one worker that is never busy."""

    def push(self, host: int, name: str, priority: int = 0, depth: int = 0) -> bool:
        """Queue a page of a host; say whether it is new."""

    def lease(self, busy: frozenset[int] = frozenset()) -> str | None:
        """The next page of a host that is not busy, as ``host/name``."""

    def finish(self, page: str, *, failed: bool = False) -> None:
        """End its lease."""

    def die(self) -> None:
        """Let another process go on where this one was killed."""

    def waiting(self) -> int:
        """How many pages wait."""

    def close(self) -> None:
        """Close files and connections."""


class SqliteDriver:
    """Queue and seen set of one machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._leased: dict[str, int] = {}
        self._open()

    def _open(self) -> None:
        self._database = Database(self._folder)
        self._queue = RequestQueue(self._database)
        self._seen = SeenSet(self._database, None)

    def push(self, host: int, name: str, priority: int = 0, depth: int = 0) -> bool:
        key, _, url, _, request, *_ = link(host, name, priority, depth)
        assert key is not None
        if not self._seen.add(key):
            return False
        self._queue.push(
            NewRequest(host, url, priority, request, self._seen.take(key), depth=depth)
        )
        return True

    def lease(self, busy: frozenset[int] = frozenset()) -> str | None:
        found = self._queue.lease(lambda host: None if host in busy else 0)
        if found is None:
            return None
        self._leased[_page(found.url)] = found.id
        return _page(found.url)

    def finish(self, page: str, *, failed: bool = False) -> None:
        self._queue.finish([self._leased.pop(page)], failed=failed)

    def die(self) -> None:
        self._database.commit()
        self._database.fail("killed")
        self._database.close()
        self._leased.clear()
        self._open()

    def waiting(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        self._database.close()


class RedisDriver:
    """A worker of a fleet."""

    def __init__(self, url: str, worker: str = "one", *, shards: int = 1) -> None:
        self._url, self._worker, self._shards = url, worker, shards
        self._loop = asyncio.new_event_loop()
        self.leased: dict[str, Leased] = {}
        self._open()

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(call)

    def _open(self) -> None:
        self._server: Server = self.run(connect(self._url, "fleet"))
        self.frontier = RedisFrontier(self._server, self._worker, shards=self._shards)
        self.run(self.frontier.open(PLAN, {}))

    def push(self, host: int, name: str, priority: int = 0, depth: int = 0) -> bool:
        (is_new,) = self.run(self.frontier.push([link(host, name, priority, depth)]))
        return bool(is_new)

    def lease(self, busy: frozenset[int] = frozenset()) -> str | None:
        hosts = dict.fromkeys(self.frontier.owned - busy, 1)
        found = self.run(self.frontier.lease(1, hosts, most_hosts=1_000))
        for one in found:
            self.leased[_page(one.url)] = one
            return _page(one.url)
        return None

    def finish(self, page: str, *, failed: bool = False) -> None:
        ended = [self.leased.pop(page)]
        self.run(self.frontier.finish([] if failed else ended, ended if failed else []))

    def die(self) -> None:
        self.run(self._server.close())
        self.leased.clear()
        self._open()

    def waiting(self) -> int:
        return int(self.run(self.frontier.counts()).waiting)

    def close(self) -> None:
        self.run(self._server.close())
        self._loop.close()


def _page(url: str) -> str:
    return url.removeprefix("http://")
