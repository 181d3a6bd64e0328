"""What a worker of a fleet needs of the crawl in its own process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.redis.request_records import Leased


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """Everything a worker is told by its settings.

    Attributes:
        url: Of the Redis that the fleet shares.
        name: Of the fleet.
        lease_secs: A worker that says nothing for so long is taken for dead.
        shards: Parts of the frontier, fixed when the fleet begins.
        max_hosts: Hosts that one worker asks at a time, at most.
        max_leased: Requests that one worker holds at a time, at most.
        delay_secs: Between two requests to a host that has no pace of its own.
        jitter: Which part of a delay it may be longer or shorter.
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
        """How long a host is left alone whose worker died."""
        return self.delay_secs * (1 + self.jitter)


class Crawl(Protocol):
    """The one who fetches: everything here is done at once, in the thread of the event loop."""

    @property
    def wants_more(self) -> bool:
        """Whether further requests are welcome: it is neither ending nor at a limit."""

    def watch(self) -> None:
        """Let no page wait for a Redis that is away, where the crawl is ending."""

    def note_through(self) -> None:
        """Tell the buffer which requests are through."""

    def save(self) -> bool:
        """Make durable what was fetched; False where that failed."""

    def is_fixed(self, leased: Leased) -> bool:
        """Whether a request is made whatever was learned of its URL."""

    def note_known(self, note: Any) -> None:
        """Hear of a link that the fleet had already."""

    def most_of_a_host(self, host: int) -> int:
        """How many requests of a host are worth holding."""

    def rest_secs(self, host: int) -> float:
        """How long nobody is to ask a host after this worker did."""

    def is_resting(self, host: int) -> bool:
        """Whether a host is to be left alone, because it refused or did not answer."""

    def changed_pauses(self) -> dict[int, SharedPause | None]:
        """Hosts whose pauses the fleet is to know, None for one that has answered well since."""

    def forget_changed(self, pauses: dict[int, SharedPause | None]) -> None:
        """The fleet was told of these."""

    def take_over(self, host: int, pause: SharedPause | None) -> None:
        """Hear of the pauses of a host that this worker owns from now on."""

    def wake(self) -> None:
        """There is something to fetch."""

    def lose_all(self) -> None:
        """Forget what waits: it is another worker's now."""

    def fail(self, reason: str) -> None:
        """End, because the fleet cannot go on."""
