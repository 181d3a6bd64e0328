"""Requests whose pages are hardly ever new: they are made last, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.skipped import Skip
from crawler.frontier.url_traps import SLOW_PRIORITY

if TYPE_CHECKING:
    from crawler.frontier.order import Load, QueuedRequest
    from crawler.frontier.queue import RequestQueue
    from crawler.frontier.ruled_addresses import RuledAddresses
    from crawler.frontier.skipped import SkippedRequests
    from crawler.frontier.url_traps import UrlTraps
    from crawler.urls.learning.address import Address

MOST_PASSED = 500
"""So many requests are leased and let go of at a time."""


class LateRequests:
    """Keeps what is queued in agreement with the traps, when it is queued and when it is leased."""

    def __init__(
        self,
        queue: RequestQueue,
        skipped: SkippedRequests,
        traps: UrlTraps,
        addresses: RuledAddresses,
    ) -> None:
        self._queue = queue
        self._skipped = skipped
        self._traps = traps
        self._addresses = addresses

    def trapped(self, folded: Address) -> Skip | None:
        """How a request is given up, whose cluster is closed; None where it is made."""
        if folded.host not in self._traps:
            return None
        fold = folded.digest()
        cluster = self._traps.closed(folded, fold)
        return None if cluster is None else Skip(-cluster, fold)

    def priority(self, url: str, wanted: int) -> int:
        """The priority with which a URL is queued: low where pages of its kind are hardly new."""
        address = self._addresses.parsed(url) if self._traps else None
        return (
            wanted
            if address is None
            else self._traps.priority(self._addresses.folded(address), wanted)
        )

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request of no late cluster.

        Those of a slow cluster go back to wait until nothing else does, those of a
        closed one are given up; both in groups, since there may be thousands.
        """
        passed: list[QueuedRequest] = []
        while (queued := self._queue.lease(load)) is not None and self._is_late(queued):
            passed.append(queued)
            if len(passed) == MOST_PASSED:
                self._pass_over(passed)
        self._pass_over(passed)
        return queued

    def _is_late(self, queued: QueuedRequest) -> bool:
        address = self._addresses.parsed(queued.url) if self._traps else None
        if address is None or address.host not in self._traps:
            return False
        folded = self._addresses.folded(address)
        if self._traps.priority(folded, queued.priority) < queued.priority:
            return True
        is_closed = self._traps.closed(folded, folded.digest()) is not None
        return is_closed and not self._skipped.is_fixed(queued.id)

    def _pass_over(self, requests: list[QueuedRequest]) -> None:
        """Let leased requests wait, or give them up."""
        hosts: dict[int, tuple[list[int], list[tuple[int, Skip]]]] = {}
        for queued in requests:
            waiting, given_up = hosts.setdefault(queued.host, ([], []))
            address = self._addresses.parsed(queued.url)
            folded = None if address is None else self._addresses.folded(address)
            fold = b"" if folded is None else folded.digest()
            cluster = None if folded is None else self._traps.closed(folded, fold)
            if cluster is None or self._skipped.is_fixed(queued.id):
                waiting.append(queued.id)
            else:
                given_up.append((queued.id, Skip(-cluster, fold)))
        for host, (waiting, given_up) in hosts.items():
            if waiting:
                self._skipped.postpone(host, waiting, SLOW_PRIORITY)
            if given_up:
                self._skipped.give_up(host, given_up)
        requests.clear()
