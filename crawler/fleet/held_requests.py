"""A leased request as it stands in the worker's own ``crawl.db``, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.redis.request_records import AGAIN, Leased

if TYPE_CHECKING:
    from crawler.frontier.order import QueuedRequest


def pack(leased: Leased) -> bytes:
    """The lease and the request; URL, host, priority and depth have columns of their own.

    A byte each for the length of the id, for the tries and for the length of the key, then id,
    key, request.
    """
    key = leased.key or b""
    tries = min(leased.tries, AGAIN - 1) + AGAIN * leased.is_again
    head = bytes((len(leased.id), tries, len(key)))
    return head + leased.id + key + leased.request


def unpack(queued: QueuedRequest) -> Leased:
    """Undo ``pack``."""
    stored: bytes = queued.request
    end_of_id = 3 + stored[0]
    end_of_key = end_of_id + stored[2]
    return Leased(
        id=stored[3:end_of_id],
        host=queued.host,
        url=queued.url,
        priority=queued.priority,
        key=stored[end_of_id:end_of_key] or None,
        request=stored[end_of_key:],
        tries=stored[1] % AGAIN,
        depth=queued.depth,
        is_again=stored[1] >= AGAIN,
    )
