"""Give repairs what they work on: the directory, its database, and its queue."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from crawler.frontier.order import NewRequest, host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.request_records import encode_parts
from crawler.pages.page_store import PageStore
from crawler.storage.states import WAITING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.storage.database import Database

_ERRBACK = "failed"
"""Name of the errback of our spiders, for a request without a page."""


class QueueAgain:
    """Puts URLs of captures into the queue of a crawl that is not running.

    Args:
        database: Database of a crawl by one of our spiders. Leases of its queue are ended.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.requests = RequestQueue(database)  # its constructor ends leases

    def push(self, page_id: int) -> bool:
        sql = "SELECT key, url, depth FROM pages WHERE id = ?"
        key, url, depth = self._database.read(sql, (page_id,)).fetchone()
        return self.push_url(url, key, depth)

    def push_url(self, url: str, key: bytes, depth: int) -> bool:
        """Queue a URL by its key; return False if it was waiting already."""
        sql = f"SELECT 1 FROM requests WHERE key = ? AND state = {WAITING}"
        if self._database.read(sql, (key,)).fetchone() is not None:
            return False
        self._database.write("DELETE FROM requests WHERE key = ?", (key,))
        sql = "SELECT referer FROM known WHERE key = ? AND referer IS NOT NULL"
        referer = self._database.read(sql, (key,)).fetchone()
        encoded = encoded_request(depth, *(referer or ()))
        self.push_encoded(url, encoded, key, depth)
        return True

    def push_encoded(self, url: str, encoded: bytes, key: bytes | None, depth: int) -> None:
        # Pages of an archive have URLs as it wrote them; the URL of a request is escaped.
        url = safe_url_string(url)
        host = host_number(urlsplit(url).hostname or "")
        self.requests.push(NewRequest(host, url, 0, encoded, key, depth=depth))


def encoded_request(depth: int, referer: str = "") -> bytes:
    """Return the stored form of a request for a page at this depth."""
    parts: dict[str, Any] = {"errback": _ERRBACK, "meta": {"depth": depth}}
    if referer:
        parts["headers"] = [["Referer", [referer]]]
    return encode_parts(parts)


class Repairer:
    """A crawl's database, whose repairs are one transaction.

    Args:
        directory: Crawl directory; its own connection sees no repair before the commit.
        database: Its database, for writing.
    """

    def __init__(self, directory: CrawlDirectory, database: Database) -> None:
        self.directory = directory
        self.database = database
        self.store = PageStore(database)

    @cached_property
    def queue(self) -> QueueAgain:
        """The queue; made when it is needed, since it relies on repaired values."""
        return QueueAgain(self.database)

    def write_each(self, sql: str, row_ids: Iterable[Any]) -> None:
        self.database.write_many(sql, ((row_id,) for row_id in row_ids))
