"""Store other spellings of a canonical URL, for use where the first one gives no page."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.frontier.seen import RECENT_URLS, RecentDepths
from crawler.storage.states import SpellingState
from crawler.urls.hosts import sent
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        known = self._of(key)
        has_failed = any(one.state == SpellingState.FAILED for one in known)
        if len(known) >= MAX_OTHERS + 2 * has_failed or self._is_known(key, url, known):
            return False
        if has_failed and all(one.state == SpellingState.FAILED for one in known):
            return True
        self._insert(key, len(known), url, SpellingState.KNOWN)
        return False

    def _is_known(self, key: bytes, url: str, known: list[Spelling]) -> bool:
        form = _form(url)
        if any(_form(one.url) == form for one in known):
            return True
        sql = "SELECT url FROM requests WHERE key = ?"
        first = self._database.read(sql, (key,)).fetchone()
        return first is not None and _form(first[0]) == form

    def note_asked(self, key: bytes, url: str) -> bool:
        known, form = self._of(key), _form(url)
        for one in known:
            if _form(one.url) == form:
                self._set(key, one, max(one.state, SpellingState.ASKED))
                return one.state == SpellingState.KNOWN
        self._insert(key, len(known), url, SpellingState.ASKED)
        return True

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
        known = {_form(one.url): one for one in self._of(key)}
        for url in failed:
            form = _form(url)
            if form in known:
                known[form] = self._set(key, known[form], SpellingState.FAILED)
            else:
                known[form] = self._insert(key, len(known), url, SpellingState.FAILED)
        if any(one.state == SpellingState.ASKED for one in known.values()):
            return None
        if canonical_url is not None:
            form = _form(canonical_url)
            if form not in known or known[form].state == SpellingState.KNOWN:
                return canonical_url
        waiting = [one for one in known.values() if one.state == SpellingState.KNOWN]
        return min(waiting).url if waiting else None

    def _of(self, key: bytes) -> list[Spelling]:
        rows = self._database.read("SELECT place, url, state FROM spellings WHERE key = ?", (key,))
        return [Spelling(place, url, SpellingState(state)) for place, url, state in rows.fetchall()]

    def _insert(self, key: bytes, place: int, url: str, state: SpellingState) -> Spelling:
        self._database.write("INSERT INTO spellings VALUES (?, ?, ?, ?)", (key, place, url, state))
        return Spelling(place, url, state)

    def _set(self, key: bytes, spelling: Spelling, state: SpellingState) -> Spelling:
        self._database.write(
            "UPDATE spellings SET state = ? WHERE key = ? AND place = ?",
            (state, key, spelling.place),
        )
        return spelling._replace(state=state)

    def clear(self) -> None:
        super().clear()
        self._database.write("DELETE FROM spellings")


def _form(url: str) -> str:
    """Return a URL as a server gets it, the form by which spellings are compared."""
    with suppress(MalformedUrl):
        return sent(url)
    return url
