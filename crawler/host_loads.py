"""How many requests to each host the downloader holds, and whether it has room for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Downloader


class HostLoads:
    """Counts what was handed out and is still in the downloader, by host.

    Scrapy's ``DownloaderAwarePriorityQueue`` counts what has reached the slot of
    a host; what waits there for a slow robots.txt has not, and fills
    ``CONCURRENT_REQUESTS`` all the same. Here it counts.
    """

    def __init__(self, downloader: Downloader) -> None:
        self._downloader = downloader
        self._hosts: dict[int, set[Request]] = {}

    def add(self, host: int, request: Request) -> None:
        """Count a request that is about to be handed out."""
        self._hosts.setdefault(host, set()).add(request)

    def remove(self, host: int, request: Request) -> None:
        """Forget a request that is through."""
        requests = self._hosts.get(host, set())
        requests.discard(request)
        if not requests:
            self._hosts.pop(host, None)

    def __call__(self, host: int) -> int | None:
        """How many there are, None where there is no room. Complexity: O(their number)."""
        requests = self._hosts.get(host)
        if requests is None:
            return 0
        under_way = len(requests & self._downloader.active)
        if under_way and under_way >= self._most(next(iter(requests))):
            return None
        return under_way

    def _most(self, request: Request) -> int:
        """How many requests the downloader sends at a time to where one goes."""
        downloader = self._downloader
        name = downloader.get_slot_key(request)
        if name in downloader.slots:
            return downloader.slots[name].concurrency
        chosen = downloader.per_slot_settings.get(name, {})
        return int(chosen.get("concurrency", downloader.domain_concurrency))
