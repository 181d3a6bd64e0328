"""Define the options of a worker, and what it requires of the crawl in its process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.request_records import Leased


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


class Crawl(Protocol):
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
