"""Define the options of a worker, and what it requires of the crawl in its process.

It is decided here which hosts the worker owns, and which it leaves to others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from crawler.frontier.frontier import Frontier
    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.request_records import Leased
    from crawler.pages.capture import PageProcessor
    from crawler.pages.visits import Visits
    from crawler.storage.database import Database
    from crawler.url_rules.engine import UrlRules
    from crawler.urls.canonical import Canonicalizer


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """The options that a worker is given by its settings.

    Attributes:
        lease_secs: Silence in seconds after which a worker is taken for dead.
        shards: Number of parts of the frontier, fixed when the fleet begins; 0 for 1 in one Redis
            and 4 in a cluster.
        max_hosts: Maximum number of hosts that one worker owns at a time.
        max_leased: Maximum number of requests that one worker holds at a time.
        delay_secs: Pause between two requests to a host that has no pace of its own.
        jitter: Fraction of a delay by which it may be longer or shorter.
    """

    url: str
    name: str
    lease_secs: float
    shards: int
    max_hosts: int
    max_leased: int
    delay_secs: float
    jitter: float

    @property
    def rest_secs(self) -> float:
        """Seconds for which the hosts of a dead worker are left alone at least."""
        return self.delay_secs * (1 + self.jitter)


class FetchCounts(Protocol):
    """The counts of a run."""

    @property
    def pages(self) -> int: ...


class WorkerJob(Protocol):
    """The parts of the job of a worker that it shares with the fleet."""

    folder: Path | None
    database: Database
    canonicalizer: Canonicalizer
    url_rules: UrlRules
    frontier: Frontier
    visits: Visits
    processor: PageProcessor

    @property
    def result(self) -> FetchCounts: ...


class FetchingCrawl(Protocol):
    """The crawl that fetches; its methods return at once, in the thread of the event loop."""

    @property
    def wants_more(self) -> bool:
        """Whether further requests are welcome: the crawl is neither ending nor at a limit."""

    def watch(self) -> None:
        """Let no page wait for a Redis that is away, if the crawl is ending."""

    def note_through(self) -> None:
        """Report the finished requests to the buffer."""

    def save(self) -> bool:
        """Make the fetched pages durable; return False if that failed."""

    def is_fixed(self, leased: Leased) -> bool:
        """Return whether a request is made whatever was learned of its URL."""

    def note_known(self, note: Any) -> None:
        """Take the note of a link that the fleet had already."""

    def most_of_a_host(self, host: int) -> int:
        """Return the number of requests of a host that are worth holding."""

    def delay_secs(self, host: int) -> float:
        """Return the longest pause between two requests to a host, in seconds."""

    def rest_secs(self, host: int) -> float:
        """Return for how many seconds no worker may request from a host after this one did."""

    def is_resting(self, host: int) -> bool:
        """Return whether a host is to be left alone, because it refused or did not answer."""

    def changed_pauses(self) -> dict[int, SharedPause | None]:
        """Return the hosts whose pauses changed; None marks one that has answered well since."""

    def forget_changed(self, pauses: dict[int, SharedPause | None]) -> None:
        """Forget changed pauses that the fleet has."""

    def take_over(self, host: int, pause: SharedPause | None) -> None:
        """Take over the pauses of a host that this worker owns from now on."""

    def wake(self) -> None:
        """Resume fetching: new requests have come."""

    def lose_all(self) -> None:
        """Forget the waiting requests: they are another worker's now."""

    def stop(self) -> None:
        """End the crawl as Ctrl-C does, once."""

    def fail(self, reason: str) -> None:
        """End the crawl, because the fleet cannot go on."""


IDLE_SECS = 1.0
"""Give back a host after this many idle seconds, since links to it may be on their way."""

PATIENCE = 2
"""Give hosts away after this many counts in a row with too many of them."""


class HostShare:
    """The hosts that this worker owns.

    Hosts are shared out evenly, so that a worker that joins late gets some: a worker with more than
    its share fetches no more from the surplus hosts and gives them back.

    Args:
        most: Maximum number of hosts of one worker.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._active: dict[int, float] = {}
        self._leaving: set[int] = set()
        self._too_many = 0
        self.share = 1

    def __len__(self) -> int:
        return len(self._active)

    def reckon(self, hosts: int, workers: int) -> None:
        self.share = max(1, min(self._most, math.ceil(hosts / max(workers, 1))))

    def note(self, host: int, now: float) -> None:
        """Record that requests of a host came, or are still held."""
        self._active[host] = now

    def rooms(self, held: Mapping[int, int], most_of: Callable[[int], int]) -> dict[int, int]:
        """Return for each host the number of further requests that fit."""
        return {
            host: max(0, most_of(host) - held.get(host, 0))
            for host in self._active
            if host not in self._leaving
        }

    def surplus(self, held: Mapping[int, int], is_bound: Callable[[int], bool]) -> list[int]:
        """Choose the hosts that are left to others from now on; each is returned once.

        Args:
            held: Number of requests of each host that are here; those with the fewest are left.
            is_bound: Predicate for a host that must stay, since only this worker knows its
                requests that a learned rule skips.
        """
        number = len(self._active) - len(self._leaving) - self.share
        self._too_many = self._too_many + 1 if number > 0 else 0
        if self._too_many < PATIENCE:
            return []
        staying = (host for host in self._active if host not in self._leaving)
        fewest_first = sorted(staying, key=lambda host: held.get(host, 0))
        chosen = [host for host in fewest_first if not is_bound(host)][:number]
        self._leaving.update(chosen)
        return chosen

    def idle(
        self, held: Mapping[int, int], is_bound: Callable[[int], bool], now: float
    ) -> list[int]:
        """Return the hosts that can be given back: none of their requests is here or due soon."""
        # A rule may skip a request that was leased before its host was chosen: the host stays then.
        self._leaving = {host for host in self._leaving if not is_bound(host)}
        for host in held:
            self.note(host, now)
        return [
            host
            for host, since in self._active.items()
            if host not in held
            and (host in self._leaving or now - since >= IDLE_SECS)
            and not is_bound(host)
        ]

    def forget(self, hosts: Iterable[int]) -> None:
        for host in list(hosts):
            self._active.pop(host, None)
            self._leaving.discard(host)

    def clear(self) -> None:
        self._active.clear()
        self._leaving.clear()
