"""Queues of requests: pushed a batch at a time, then taken out again.

A request is made before the clock runs, and turned into bytes and back while it does, as
in a crawl. What is durable is committed as in a crawl too: ours in groups, Scrapy's SQLite
queue with each request, its files when they are closed.
"""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import xxhash
from scrapy import Request, Spider
from scrapy.squeues import LifoMemoryQueue, PickleFifoSQLiteQueue, PickleLifoDiskQueue
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.seen import SeenSet
from crawler.scheduling.request_codec import decode_request, encode_request
from crawler.storage.database import Database
from frontier_peers.processes import Figures, Watch, disk_megabytes, peak_megabytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twisted.python.failure import Failure

MAX_TAKEN = 200_000
_BATCH = 10_000
_UNDER_WAY = 16
_LINKS_OF_A_PAGE = 10


class BenchmarkSpider(Spider):
    """Has the callbacks that requests name."""

    name = "benchmark"

    def failed(self, _: Failure) -> None:
        """An errback."""


class Peer(Protocol):
    """What a queue is asked for here."""

    def push(self, request: Request) -> None:
        """Queue a request."""

    def pop(self) -> Request | None:
        """Take one out, and be through with it."""


class Ours:
    """Push, lease and acknowledgement; hosts have room for everything.

    A push is one into the seen set too, which the others do without.
    """

    def __init__(self, folder: Path) -> None:
        self.spider = BenchmarkSpider()
        self._database = Database(folder)
        self._queue = RequestQueue(self._database)
        self._seen = SeenSet(self._database, None)
        self._under_way: list[int] = []

    def push(self, request: Request) -> None:
        """As the scheduler does."""
        key = xxhash.xxh3_128_digest(request.url.encode())
        self._seen.add(key)
        host, packed = (
            host_number(request.meta["download_slot"]),
            encode_request(request, self.spider),
        )
        self._queue.push(
            NewRequest(host, request.url, request.priority, packed, self._seen.take(key))
        )
        if self._database.is_due():
            self._database.commit()

    def pop(self) -> Request | None:
        """As the scheduler does; through when so many are under way."""
        queued = self._queue.lease(lambda _: 0)
        if queued is None:
            return None
        request = decode_request(queued.request, queued.url, queued.priority, self.spider)
        self._under_way.append(queued.id)
        if len(self._under_way) == _UNDER_WAY:
            self._queue.finish(self._under_way)
            self._under_way.clear()
        if self._database.is_due():
            self._database.commit()
        return request


def ours(folder: Path) -> Peer:
    """Our queue."""
    return Ours(folder)


def file_lifo(folder: Path) -> Peer:
    """What Scrapy uses with JOBDIR, for one host and one priority."""
    return _scrapys(PickleLifoDiskQueue, str(folder / "queue"))


def sqlite_fifo(folder: Path) -> Peer:
    """The other one that Scrapy has for JOBDIR."""
    return _scrapys(PickleFifoSQLiteQueue, str(folder / "queue"))


def memory_lifo(_: Path) -> Peer:
    """What Scrapy uses without JOBDIR."""
    return _scrapys(LifoMemoryQueue)


def _scrapys(kind: Any, *arguments: str) -> Peer:
    crawler = get_crawler(BenchmarkSpider)
    crawler.spider = BenchmarkSpider()
    peer: Peer = build_from_crawler(kind, crawler, *arguments)
    return peer


PEERS = {
    "ours": ours,
    "Scrapy, file LIFO": file_lifo,
    "Scrapy, SQLite": sqlite_fifo,
    "Scrapy, memory": memory_lifo,
}


def _requests(spider: BenchmarkSpider, urls: int, hosts: int) -> Iterator[Request]:
    """New links come in as they stand on pages: some to one host, then some to another."""
    for number in range(urls):
        host = f"www{number // _LINKS_OF_A_PAGE * 7919 % hosts}.example.com"
        yield Request(
            f"http://{host}/some/folder/page-{number}.html",
            errback=spider.failed,
            headers={"Referer": f"http://{host}/some/folder/index.html"},
            meta={"depth": 3, "download_slot": host},
        )


def measure(name: str, urls: int, hosts: int) -> Figures:
    """Push so many requests to so many hosts, then take out as many of them as is bearable."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        peer = PEERS[name](folder)
        # Only the methods of the very spider can be stored.
        spider: BenchmarkSpider = getattr(peer, "spider", BenchmarkSpider())
        pushing, taking = Watch(), Watch()
        requests = _requests(spider, urls, hosts)
        while batch := list(islice(requests, _BATCH)):
            pushing.spend(partial(_push, peer, batch))
        size, peak = disk_megabytes(folder), peak_megabytes()
        taken = min(urls, MAX_TAKEN)
        taking.spend(partial(_take, peer, taken))
        return {
            "pushes/s": urls / pushing.secs,
            "pushes a CPU second": urls / pushing.cpu_secs,
            "taken/s": taken / taking.secs,
            "taken a CPU second": taken / taking.cpu_secs,
            "peak MB": max(peak, peak_megabytes()),
            "MB on disk": size,
        }


def _push(peer: Peer, requests: list[Request]) -> None:
    for request in requests:
        peer.push(request)


def _take(peer: Peer, count: int) -> None:
    for _ in range(count):
        if peer.pop() is None:
            raise RuntimeError("requests are missing")
