"""Queue URLs to be fetched again, because their text is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.frontier.order import host_number
from crawler.frontier.queue import RequestQueue
from crawler.frontier.request_records import encode_parts
from crawler.storage.states import TODO

if TYPE_CHECKING:
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
        """Queue the URL of a capture; return False if it was waiting already."""
        sql = "SELECT key, url, depth FROM pages WHERE id = ?"
        key, url, depth = self._database.read(sql, (page_id,)).fetchone()
        return self.push_url(url, key, depth)

    def push_url(self, url: str, key: bytes, depth: int) -> bool:
        """Queue a URL by its key; return False if it was waiting already."""
        sql = f"SELECT 1 FROM requests WHERE key = ? AND state = {TODO}"
        if self._database.read(sql, (key,)).fetchone() is not None:
            return False
        self._database.write("DELETE FROM requests WHERE key = ?", (key,))
        self.push_encoded(url, encoded_request(depth), key, depth)
        return True

    def push_encoded(self, url: str, encoded: bytes, key: bytes | None, depth: int) -> None:
        """Queue a request that is encoded already."""
        host = host_number(urlsplit(url).hostname or "")
        self.requests.push(host, url, 0, encoded, key, depth=depth)


def encoded_request(depth: int) -> bytes:
    """Return the stored form of a request for a page at this depth."""
    return encode_parts({"errback": _ERRBACK, "meta": {"depth": depth}})
