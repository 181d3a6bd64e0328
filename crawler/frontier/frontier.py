"""Hold the parts that decide which URL is next and which was met before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from crawler.frontier.pauses import HostPauses
from crawler.frontier.spellings import StoredSpellings

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from crawler.frontier.pauses import PausePolicy
    from crawler.frontier.queue import RequestQueue
    from crawler.frontier.seen import SeenKeys, SeenSet
    from crawler.frontier.spellings import Spellings
    from crawler.storage.database import Database


class Redirects:
    """Every redirect that was met, one for each source.

    Two pages that redirect to one another are each filtered as seen
    when the other leads to them; only here it shows that neither is a page.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, source: bytes, source_url: str, target: bytes, fragment: str = "") -> None:
        """Remember a redirect, with the fragment that it leads to; keys are fingerprints."""
        self._database.write(
            "INSERT OR REPLACE INTO redirects VALUES (?, ?, ?, ?)",
            (source, source_url, target, fragment),
        )

    def forget(self, source: bytes) -> None:
        """Forget that a URL redirects, since it is asked for again."""
        self._database.write("DELETE FROM redirects WHERE key = ?", (source,))

    def target(self, source: bytes) -> bytes | None:
        """Return the last target of a redirect; None where the source was never redirected."""
        row = self._database.read(
            "SELECT target FROM redirects WHERE key = ?", (source,)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def circle(self, start: bytes) -> list[str]:
        """Return the URLs of the circle that a source is part of, empty where it is in none.

        Complexity: O(length of the chain).
        """
        urls: list[str] = []
        passed: set[bytes] = set()
        key = start
        while key not in passed:
            passed.add(key)
            row = self._database.read(
                "SELECT url, target FROM redirects WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                return []
            urls.append(str(row[0]))
            key = bytes(row[1])
        return urls if key == start else []

    def target_url(self, source: bytes) -> str | None:
        """Return the URL that a source led to in this visit; None where that is not known."""
        row = self._database.read(
            "SELECT requests.url FROM redirects JOIN requests ON requests.key = target"
            " WHERE redirects.key = ? AND requests.url != ''",
            (source,),
        ).fetchone()
        return None if row is None else str(row[0])

    def clear(self) -> None:
        self._database.empty("redirects")


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
        return bool(self._half_done)

    def note_replaced(self, response: Any, request: Any) -> None:
        """Note the leased request of a response that a foreign middleware gave another one."""
        self._by_response[response] = request

    def request_of(self, response: Any) -> Any:
        """Return the leased request of a response; None where the response has no request."""
        return self._by_response.get(response) or getattr(response, "request", None)

    def note_stored(self, response: Any) -> None:
        leased = self.request_of(response)
        if leased is not None:
            self._half_done.add(leased)

    def note_through(self, requests: Iterable[Hashable]) -> None:
        self._half_done.difference_update(requests)


@dataclass(slots=True)
class Frontier:
    """The requests of a crawl: those that wait, are under way, or were met before.

    A fleet puts ``seen`` and ``spellings`` of its own in their places, before the crawl begins.
    """

    queue: RequestQueue
    seen: SeenKeys
    spellings: Spellings
    redirects: Redirects
    pauses: HostPauses
    leased: LeasedRequests = field(default_factory=LeasedRequests)

    def begin_visit(self) -> None:
        self.queue.clear()
        self.seen.clear()
        self.redirects.clear()
        self.spellings.clear()
        self.pauses.begin_visit()


def open_frontier(
    database: Database, queue: RequestQueue, seen: SeenSet, policy: PausePolicy
) -> Frontier:
    """Open the frontier of a crawl that is alone."""
    return Frontier(
        queue, seen, StoredSpellings(database), Redirects(database), HostPauses(database, policy)
    )
