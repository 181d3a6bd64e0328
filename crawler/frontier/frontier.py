"""Hold the parts that decide which URL is next and which was met before.

Other spellings of a canonical URL are stored for use where the first one gives no page.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from crawler.frontier.pauses import HostPauses
from crawler.frontier.seen import RECENT_URLS, RecentDepths
from crawler.storage.states import SpellingState
from crawler.urls.hosts import sent
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from crawler.frontier.pauses import PausePolicy
    from crawler.frontier.queue import RequestQueue
    from crawler.frontier.seen import SeenKeys, SeenSet
    from crawler.storage.database import Database


MAX_OTHERS: Final = 3
"""Spellings stored of a URL, at most, beside the first one and the canonical one."""


class Spelling(NamedTuple):
    """A row of the table ``spellings``."""

    place: int
    url: str
    state: SpellingState


class Spellings:
    """The spellings that were met lately of each key that has several: those sent to a fleet.

    There all are stored in Redis beside the queue, in the step in which one is chosen.
    """

    def __init__(self) -> None:
        self._recent = RecentDepths[str](RECENT_URLS)

    def is_wanted(self, key: bytes, url: str) -> bool:
        """Remember a spelling under a key that was queued before; return whether to request it now.

        It is requested if all spellings that were known gave no page: that Redis decides.
        """
        return self._recent.is_new(url, 0)

    def note_asked(self, key: bytes, url: str) -> bool:
        """Note that a spelling is queued; return whether it was not requested before."""
        return True

    def clear(self) -> None:
        """Remove all spellings, for another visit."""
        self._recent.clear()


class StoredSpellings(Spellings):
    """The table ``spellings``: the canonical URL is tried next, then others as they were met.

    It holds the spellings of each key that has several, or one that has failed.
    """

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    def is_wanted(self, key: bytes, url: str) -> bool:
        """See ``Spellings``. Complexity: O(log n) for a URL that was not met lately."""
        if not super().is_wanted(key, url):
            return False
        known, form = self._of(key), _form(url)
        has_failed = any(one.state == SpellingState.FAILED for one in known.values())
        if len(known) >= MAX_OTHERS + 2 * has_failed or form in known:
            return False
        first = self._database.value("SELECT url FROM requests WHERE key = ?", (key,))
        if first is not None and _form(first) == form:
            return False
        if has_failed and all(one.state == SpellingState.FAILED for one in known.values()):
            return True
        self._note(key, url, SpellingState.KNOWN)
        return False

    def note_asked(self, key: bytes, url: str) -> bool:
        return self._note(key, url, SpellingState.ASKED) in {None, SpellingState.KNOWN}

    def replacement(
        self, key: bytes, failed: Iterable[str], canonical_url: str | None
    ) -> str | None:
        """Return the spelling to request after some gave no page, or None.

        It is None while another one is under way: a request that a killed process did not
        acknowledge fails twice.

        Args:
            key: The key of all of them.
            failed: The spellings that gave no page.
            canonical_url: The canonical URL; None where it may not be requested.
        """
        for url in failed:
            self._note(key, url, SpellingState.FAILED)
        known = self._of(key)
        if any(one.state == SpellingState.ASKED for one in known.values()):
            return None
        if canonical_url is not None:
            found = known.get(_form(canonical_url))
            if found is None or found.state == SpellingState.KNOWN:
                return canonical_url
        waiting = [one for one in known.values() if one.state == SpellingState.KNOWN]
        return min(waiting).url if waiting else None

    def _of(self, key: bytes) -> dict[str, Spelling]:
        """Return the spellings of a key, each by its form."""
        rows = self._database.read("SELECT place, url, state FROM spellings WHERE key = ?", (key,))
        return {
            _form(url): Spelling(place, url, SpellingState(state)) for place, url, state in rows
        }

    def _note(self, key: bytes, url: str, state: SpellingState) -> SpellingState | None:
        """Give a spelling a state unless it has a later one; return the one that it had."""
        known = self._of(key)
        place, first, before = known.get(_form(url)) or (len(known), url, None)
        if before is None or before < state:
            row = key, place, first, state
            self._database.write("REPLACE INTO spellings VALUES (?, ?, ?, ?)", row)
        return before

    def clear(self) -> None:
        super().clear()
        self._database.write("DELETE FROM spellings")


def _form(url: str) -> str:
    """Return a URL as a server gets it, the form by which spellings are compared."""
    with suppress(MalformedUrl):
        return sent(url)
    return url


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
        return self._database.value("SELECT target FROM redirects WHERE key = ?", (source,))

    def end_of(self, key: bytes) -> bytes:
        """Return the key to which a URL was redirected in this visit, at last; else its own."""
        passed = {key}
        while (target := self.target(key)) is not None and target not in passed:
            key = target
            passed.add(key)
        return key

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
        return self._database.value(
            "SELECT requests.url FROM redirects JOIN requests ON requests.key = target"
            " WHERE redirects.key = ? AND requests.url != ''",
            (source,),
        )

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
