"""The queue of a crawl without a directory: requests in memory, gone with the process."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import RequestQueue

if TYPE_CHECKING:
    from crawler.frontier.order import Load, NewRequest, QueuedRequest, ShorterWay
    from crawler.storage.database import Database


class MemoryQueue(RequestQueue):
    """Requests of any kind, which need not be stored: the table has their numbers instead."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._numbers = count(1)
        self._requests: dict[bytes, Any] = {}

    def _number_of(self, request: Any) -> bytes:
        number = b"%d" % next(self._numbers)
        self._requests[number] = request
        return number

    def push(self, new: NewRequest) -> None:
        super().push(new._replace(request=self._number_of(new.request)))

    def lease(self, load: Load) -> QueuedRequest | None:
        queued = super().lease(load)
        return queued and queued._replace(request=self._requests.pop(queued.request))

    def put_back(self, queued: QueuedRequest, *, is_changed: bool = False) -> None:
        super().put_back(queued._replace(request=self._number_of(queued.request)), is_changed=True)

    def lower(self, way: ShorterWay) -> bool:
        again = None if way.again is None else self._number_of(way.again)
        is_queued = super().lower(way._replace(again=again))
        if again is not None and not is_queued:
            del self._requests[again]
        return is_queued

    def clear(self) -> None:
        super().clear()
        self._requests.clear()
