"""Track which hosts the downloader has room for, and hold requests until their time has come."""

from __future__ import annotations

import heapq
import math
import time
from itertools import count
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

from crawler.request_meta import SEED

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from scrapy import Request
    from scrapy.core.downloader import Downloader, Slot
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

    from crawler.frontier.order import QueuedRequest
    from crawler.frontier.pauses import HostPauses

MAX_WAIT_SECS = 0.5
"""Seconds that a request waits in its slot, at most, where its delay varies by chance."""

MAX_ENTRY_SECS = 15.0
"""Seconds for which the requests of a host wait at most for the answer of its seed."""

MAX_DELAYED = 1_000
"""Requests that wait for their own time, at most."""


class HostLoads:
    """Counts the requests that were handed out and are still in the downloader, by host.

    Scrapy's ``DownloaderAwarePriorityQueue`` counts those that have reached the slot of
    a host; one that waits for a slow robots.txt has not, and fills
    ``CONCURRENT_REQUESTS`` all the same. Here it counts.

    Requests that wait in a slot for its delay would fill ``CONCURRENT_REQUESTS`` as well. So a host
    has no room while its slot is in its delay, or has a request that is not sent yet, or while it
    is paused. Nor has it while the first of its seeds is asked for: that may hand out a cookie
    without which its pages are not shown.

    Attributes:
        free_at: The earliest time at which a host that had no room may have some, by
            the monotonic clock; infinite where that is not known.
    """

    def __init__(self, downloader: Downloader, pauses: HostPauses) -> None:
        self._downloader = downloader
        self._pauses = pauses
        self._hosts: dict[int, set[Request]] = {}
        self._slot_names: dict[int, str] = {}
        # Hosts whose seed was handed out; those that wait for its answer, and until when.
        self._entered: set[int] = set()
        self._entries: dict[int, tuple[Request, float]] = {}
        self._reached: set[int] = set()
        self.free_at = math.inf

    def begin(self) -> None:
        self.free_at = math.inf

    def add(self, host: int, request: Request) -> None:
        """Count a request that is about to be handed out."""
        self._hosts.setdefault(host, set()).add(request)
        is_entry = SEED in request.meta
        if is_entry and (host not in self._entered or request.meta.get("redirect_urls")):
            self._entered.add(host)
            self._entries[host] = request, time.monotonic() + MAX_ENTRY_SECS
        self._slot_names[host] = self._downloader.get_slot_key(request)
        if len(self._slot_names) > 2 * len(self._downloader.slots) + MAX_DELAYED:
            names = self._slot_names.items()
            self._slot_names = {
                one: name
                for one, name in names
                if one in self._hosts or name in self._downloader.slots
            }

    def remove(self, host: int, request: Request) -> None:
        requests = self._hosts.get(host, set())
        requests.discard(request)
        if host in self._entries and self._entries[host][0] is request:
            self._let_in(host)
        if not requests:
            self._hosts.pop(host, None)

    def _is_entering(self, host: int) -> bool:
        """Return whether a seed was handed out, and its answer is still to come."""
        request, until = self._entries[host]
        is_active = request in self._downloader.active
        if is_active:
            self._reached.add(host)
        if until <= time.monotonic() or (host in self._reached and not is_active):
            self._let_in(host)
            return False
        self.free_at = min(self.free_at, until)
        return True

    def _let_in(self, host: int) -> None:
        del self._entries[host]
        self._reached.discard(host)

    def __call__(self, host: int) -> int | None:
        """Return how many there are, None where there is no room. Complexity: O(their number)."""
        if host in self._entries and self._is_entering(host):
            return None
        now, free_at = time.monotonic(), self._pauses.ends_at(host) if self._pauses else 0.0
        name = self._slot_names.get(host)
        if free_at <= now and name is None:
            return 0
        slot = None if name is None else self._downloader.slots.get(name)
        if slot is not None and slot.delay:
            # What waits in it, also of other components, is sent when the longest delay is over.
            free_at = max(free_at, _longest_until(slot) if slot.queue else due_at_of(slot))
        if free_at > now or name is None:
            self.free_at = min(self.free_at, free_at)
            return None
        if self.has_to_wait(host):
            return None
        requests = self._hosts.get(host)
        return 0 if requests is None else self._room_beside(requests, name, slot)

    def _room_beside(self, requests: set[Request], name: str, slot: Slot | None) -> int | None:
        under_way = requests & self._downloader.active
        if under_way and len(under_way) >= self._most(name):
            return None
        if under_way and delay_of(self._downloader, name):
            sent = frozenset() if slot is None else slot.transferring
            if under_way - sent:
                # It is sent when the longest delay is over, if it is in the slot.
                sent_at = math.inf if slot is None else _longest_until(slot)
                if sent_at > time.monotonic():
                    self.free_at = min(self.free_at, sent_at)
                return None
        return len(under_way)

    def has_to_wait(self, host: int) -> bool:
        """Return whether a request that is about to reach the slot of its host would wait there."""
        slot = self._downloader.slots.get(self._slot_names.get(host, ""))
        if slot is None or not slot.delay:
            return False
        return bool(slot.queue) or due_at_of(slot) > time.monotonic()

    def _most(self, name: str) -> int:
        downloader = self._downloader
        if name in downloader.slots:
            return downloader.slots[name].concurrency
        most = downloader.ip_concurrency or downloader.domain_concurrency
        return int(downloader.per_slot_settings.get(name, {}).get("concurrency", most))


def delay_of(downloader: Downloader, name: str) -> float:
    """Return the seconds between two requests in a slot, also of one that is not made yet."""
    if name in downloader.slots:
        return downloader.slots[name].delay
    usual = downloader.settings.getfloat("DOWNLOAD_DELAY")
    return float(downloader.per_slot_settings.get(name, {}).get("delay", usual))


def due_at_of(slot: Slot) -> float:
    """Return the time from which a slot may be given a request, by the monotonic clock.

    Each delay is longer or shorter by chance. If the range is small, it is the earliest time at
    which the slot may send, so that the slot decides; else the mean one, so that few wait for long.
    """
    shorter = slot.jitter * slot.delay
    return slot.lastseen + slot.delay - (shorter if shorter <= MAX_WAIT_SECS else 0.0)


def _longest_until(slot: Slot) -> float:
    return slot.lastseen + slot.delay * (1 + slot.jitter)


class DelayedRequests:
    """Requests that failed, and are handed out again when their time has come.

    They stay leased in the queue, so that a kill loses none of them.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, QueuedRequest, Request]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, queued: QueuedRequest, request: Request, secs: float) -> None:
        due_at = time.monotonic() + secs
        heapq.heappush(self._waiting, (due_at, next(self._numbers), queued, request))

    def take(self, loads: HostLoads) -> tuple[QueuedRequest, Request] | None:
        """Return one whose time has come and whose host has room; None where there is none."""
        now = time.monotonic()
        if not self._waiting or self._waiting[0][0] > now:
            if self._waiting:
                loads.free_at = min(loads.free_at, self._waiting[0][0])
            return None
        if loads(self._waiting[0][2].host) is not None:
            return heapq.heappop(self._waiting)[2:]
        for entry in sorted(self._waiting):
            if entry[0] > now:
                loads.free_at = min(loads.free_at, entry[0])
                break
            if loads(entry[2].host) is not None:
                self._waiting.remove(entry)
                heapq.heapify(self._waiting)
                return entry[2], entry[3]
        return None

    def clear(self) -> None:
        self._waiting.clear()


class Alarm:
    """Wakes Scrapy's engine to ask for the next request, now or at a time that may be moved."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._call: CallLaterResult | None = None
        self._moment = math.inf

    def set(self, moment: float) -> None:
        """Wake the engine at a time of the monotonic clock; never where it is infinite."""
        if moment == self._moment:
            return
        if self._call is not None:
            self._call.cancel()
            self._call = None
        self._moment = moment
        if moment < math.inf:
            self._call = call_later(max(0.0, moment - time.monotonic()), self._ring)

    def _ring(self) -> None:
        self._call, self._moment = None, math.inf
        self.wake()

    def wake(self) -> None:
        slot = self._crawler.engine._slot
        if slot is not None and not self.is_over:
            slot.nextcall.schedule()

    @property
    def is_over(self) -> bool:
        """Whether the engine asks for no further request."""
        slot = self._crawler.engine._slot
        return slot is None or slot.closing is not None


def requests_in_progress(crawler: Crawler) -> AbstractSet[Request]:
    """Return the set in which Scrapy's engine keeps the requests that are not through.

    Raises:
        RuntimeError: This version of Scrapy keeps none.
    """
    slot = getattr(crawler.engine, "_slot", None)
    inprogress = getattr(slot, "inprogress", None)
    if not isinstance(inprogress, set):
        raise RuntimeError(  # noqa: TRY004  # not the caller's mistake
            "this version of Scrapy keeps no set engine._slot.inprogress, "
            "by which finished requests are recognised; use another version, or "
            "SCHEDULER = 'scrapy.core.scheduler.Scheduler'"
        )
    return inprogress
