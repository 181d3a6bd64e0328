"""Hold the parts that decide which URL is next and which was met before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from crawler.frontier.pauses import HostPauses
from crawler.frontier.redirects import Redirects
from crawler.frontier.spellings import StoredSpellings

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from crawler.frontier.order import Queue
    from crawler.frontier.pauses import PausePolicy
    from crawler.frontier.seen import SeenKeys, SeenSet
    from crawler.frontier.spellings import Spellings
    from crawler.storage.database import Database


class LeasedRequests:
    """Finds the leased request of a response, and remembers which requests are half done.

    A request is half done while its page is stored and the request is not acknowledged. A commit
    waits a little for it, so that a page and its links become durable together.
    """

    def __init__(self) -> None:
        self._half_done: WeakSet[Hashable] = WeakSet()
        self._by_response: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @property
    def is_half_done(self) -> bool:
        """Whether any request is half done."""
        return bool(self._half_done)

    def note_replaced(self, response: Any, request: Any) -> None:
        """Note the leased request of a response that a foreign middleware gave another one."""
        self._by_response[response] = request

    def request_of(self, response: Any) -> Any:
        """Return the leased request of a response; None where the response has no request."""
        return self._by_response.get(response) or getattr(response, "request", None)

    def note_stored(self, response: Any) -> None:
        """Note that the page of a response is stored."""
        leased = self.request_of(response)
        if leased is not None:
            self._half_done.add(leased)

    def note_through(self, requests: Iterable[Hashable]) -> None:
        """Note that requests are acknowledged."""
        self._half_done.difference_update(requests)


@dataclass(slots=True)
class Frontier:
    """The requests of a crawl: those that wait, are under way, or were met before.

    Attributes:
        queue: Requests that wait or are leased.
        seen: Keys that were queued.
        spellings: Other spellings of canonical URLs.
        redirects: Redirects that were met.
        pauses: Pauses of hosts.
        leased: Leased requests of responses.
    """

    queue: Queue
    seen: SeenKeys
    spellings: Spellings
    redirects: Redirects
    pauses: HostPauses
    leased: LeasedRequests = field(default_factory=LeasedRequests)

    def share(self, seen: SeenKeys, spellings: Spellings) -> None:
        """Leave keys and spellings to a fleet, before the crawl begins.

        Args:
            seen: Keys that were sent to the fleet lately.
            spellings: Spellings that were sent there lately.
        """
        self.seen, self.spellings = seen, spellings

    def begin_visit(self) -> None:
        """Remove everything that belongs to the last visit."""
        self.queue.clear()
        self.seen.clear()
        self.redirects.clear()
        self.spellings.clear()
        self.pauses.begin_visit()


def open_frontier(database: Database, queue: Queue, seen: SeenSet, policy: PausePolicy) -> Frontier:
    """Open the frontier of a crawl that is alone.

    Args:
        database: The crawl's database.
        queue: Its requests.
        seen: Its keys.
        policy: Bounds of the pauses of hosts.
    """
    return Frontier(
        queue,
        seen,
        StoredSpellings(database),
        Redirects(database),
        HostPauses(database, policy),
    )
