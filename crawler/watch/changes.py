"""Find what changed in a crawl directory since it was told last, and put it in words."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.items import iso_time
from crawler.pages.reasons import in_words
from crawler.pages.stored_texts import text_of_page, unpack_judged
from crawler.pages.verdicts import FORBIDDEN, KEPT, MOVED
from crawler.pages.wall_clusters import host_of
from crawler.watch.differences import TextDifference, find_difference, one_sided_keys
from crawler.watch.watch_store import PageChange
from neardup.plurals import many
from neardup.volatile.phrases import masked

if TYPE_CHECKING:
    import sqlite3

    from crawler.watch.differences import Passage
    from crawler.watch.watch_store import WatchStore

NEW = "new"
CHANGED = "changed"
AWAY = "gone"
BACK = "back"
KINDS = (NEW, CHANGED, AWAY, BACK)

MIN_REPEATED = 10
"""A paragraph that a visit adds to this many pages of a host, or takes away, may be boilerplate."""

MIN_SHARE = 0.1
"""It is where those pages are such a share of all pages of the host."""

MAX_PASSAGES = 50
"""A change has at most this many passages of either kind; the numbers of words count all."""

MAX_CHARACTERS = 2_000
"""A passage of a change has at most this many characters."""

_RETITLED = b""
"""The hash under which pages are counted whose title alone changed."""


class Found(NamedTuple):
    """Changes that were found since the last time.

    Attributes:
        counts: Changes by kind.
        slight: Pages in which only clocks, dates, counters, boilerplate or the order differ.
    """

    counts: Counter[str]
    slight: int


class ChangeFinder:
    """Compares the pages of a crawl directory with what was told of them.

    Args:
        store: The memory of the watch.
    """

    def __init__(self, store: WatchStore) -> None:
        self._store = store
        self._directory = str(store.folder.resolve())

    def take_base(self) -> int | None:
        """Note which pages there are, without telling them; return how many.

        It is done once, when the first visit is over: until then it returns None.
        """
        store = self._store
        if store.visit == 0 or (store.visit == 1 and store.left):
            return None
        return store.take_base()

    def note_changes(self, now: float) -> Found:
        """Note all changes since the last time.

        Texts are compared between the transactions: a read that lasts keeps SQLite from shortening
        the log of the crawl. What a killed process did not note is found by the next one.

        Args:
            now: Seconds since 1970, which is when a page is found to be gone.

        Complexity: O(pages), and O(length) for each page that differs.
        """
        found = Found(Counter[str](), 0)
        slight = 0
        comparison = _Comparison(self._store)
        for rows in self._store.differing():
            some = [(row, self._change_of(row, comparison, now)) for row in rows]
            with self._store.changing():
                for row, change in some:
                    self._note(row)
                    if change is None:
                        slight += _has_two(row) or _is_retitled(row)
                    else:
                        self._take(change, found)
        for rows in self._store.dropped():
            with self._store.changing():
                for row in rows:
                    self._store.note_told(row["key"], row["told_page"], is_away=True)
                    self._take(self._dropped(row, now), found)
        with self._store.changing():
            self._store.note_titles()
        return found._replace(slight=slight)

    def _note(self, row: sqlite3.Row) -> None:
        """Note what is known of a page from now on."""
        is_away = bool(row["is_away"] or (row["was_away"] and not row["is_read"]))
        self._store.note_told(row["key"], row["id"], is_away=is_away)
        changed = row["seen_visit"] if _is_retitled(row) else row["title_changed"]
        self._store.note_title(row["key"], row["title"], changed)

    def _take(self, change: PageChange, found: Found) -> None:
        self._store.add(change)
        found.counts[change.kind] += 1

    def _change_of(
        self, row: sqlite3.Row, comparison: _Comparison, now: float
    ) -> PageChange | None:
        """Return the change of a page; None: none that is told."""
        if row["told_page"] is None:
            is_news = row["verdict"] in KEPT and not row["is_away"]
            return self._new(row) if is_news else None
        if row["is_away"]:
            return None if row["was_away"] else self._gone(row, now)
        difference = comparison.difference(row)
        if row["was_away"]:
            return self._back(row, difference) if row["is_read"] else None
        if not difference.summary:
            return None
        return self._change(row, CHANGED, row["seen_at"], difference, difference.summary)

    def _new(self, row: sqlite3.Row) -> PageChange:
        words = row["words"] or 0
        summary = f"a new page of {many(words, 'word')}"
        return self._change(row, NEW, row["seen_at"], TextDifference(words_added=words), summary)

    def _back(self, row: sqlite3.Row, difference: TextDifference) -> PageChange:
        what = difference.summary or "its text is the same as before"
        return self._change(row, BACK, row["seen_at"], difference, f"the page is back; {what}")

    def _gone(self, row: sqlite3.Row, now: float) -> PageChange:
        why = in_words(row["reason"])
        if row["outcome"] == MOVED:
            summary = f"the URL redirects to {row['moved_to']}"
        elif row["outcome"] == FORBIDDEN:
            summary = "robots.txt forbids the page now"
        else:
            summary = f"the page is gone: {why}" if why else "the page is gone"
        return self._change(row, AWAY, now, TextDifference(), summary)

    def _dropped(self, row: sqlite3.Row, now: float) -> PageChange:
        summary = f"the URL gives no page with a text any more ({row['verdict']})"
        return self._change(row, AWAY, now, TextDifference(), summary)

    def _change(
        self, row: sqlite3.Row, kind: str, when: float, difference: TextDifference, summary: str
    ) -> PageChange:
        return PageChange(
            id=uuid.uuid4().urn,
            directory=self._directory,
            url=row["url"],
            kind=kind,
            when=iso_time(when),
            title=row["title"],
            summary=summary,
            added=_bounded(difference.added),
            removed=_bounded(difference.removed),
            words_added=difference.words_added,
            words_removed=difference.words_removed,
        )


class _Comparison:
    """Compares the texts of two captures of each of some pages.

    Args:
        store: The memory of the watch.
    """

    def __init__(self, store: WatchStore) -> None:
        self._store = store
        self._boilerplate = HostBoilerplate(store.connection.execute)
        self._repeated = self._repeated_keys()

    def _repeated_keys(self) -> set[tuple[int, bytes]]:
        """Return the hashes of paragraphs in which many pages of a host changed, with the host.

        The crawl counts the boilerplate of pages that are captured first, and does not know a
        notice that a site has put on all of its pages since.
        """
        sides = (self._sides(row) for rows in self._store.differing() for row in rows)
        many = self._store.repeated_sides(sides, MIN_REPEATED)
        pages = {
            host: 0 if (counts := self._boilerplate.blocks(host)) is None else counts.texts
            for host in {host for host, _, _ in many}
        }
        return {(host, side) for host, side, count in many if count >= MIN_SHARE * pages[host]}

    def _sides(self, row: sqlite3.Row) -> list[tuple[int, bytes]]:
        """Return the hashes of the paragraphs in which a page changed, with its host."""
        host = host_of(row["url"])
        if not _has_two(row):
            return [(host, _RETITLED)] if _is_retitled(row) else []
        texts = self._both(row)
        if texts is None:
            return []
        return [(host, _hash(key)) for key in one_sided_keys(*texts, row["language"])]

    def _both(self, row: sqlite3.Row) -> tuple[str, str] | None:
        """Return the text that was told and that of a row; None where one is not stored."""
        read = self._store.connection.execute
        old, new = text_of_page(read, row["told_page"]), text_of_page(read, row["id"])
        if old is None or new is None:
            return None
        return unpack_judged(old.text), unpack_judged(new.text)

    def _is_boilerplate(self, url: str, passage: Passage) -> bool:
        if (host_of(url), _hash(passage.key)) in self._repeated:
            return True
        return self._boilerplate.is_boilerplate(url, passage.text)

    def difference(self, row: sqlite3.Row) -> TextDifference:
        """Return what differs between the capture that was told and that of a row."""
        title = self._title_words(row)
        if not _has_two(row):
            return TextDifference(summary=title)
        texts = self._both(row)
        if texts is None:
            return TextDifference(summary="the text changed; the one before is not stored any more")
        found = find_difference(
            *texts, row["language"], lambda passage: self._is_boilerplate(row["url"], passage)
        )
        parts = [part for part in (title, found.summary) if part]
        return TextDifference(
            found.added,
            found.removed,
            found.words_added,
            found.words_removed,
            "; ".join(parts),
        )

    def _title_words(self, row: sqlite3.Row) -> str:
        """Return what to say of a title; empty where the site changes it at each visit."""
        if not _is_retitled(row) or row["title_changed"]:
            return ""
        if not _has_two(row) and (host_of(row["url"]), _RETITLED) in self._repeated:
            return ""
        return f'the title changed: "{row["told_title"]}" is now "{row["title"]}"'


def _has_two(row: sqlite3.Row) -> bool:
    """Return whether a page has another capture than the one that was told."""
    return row["told_page"] is not None and row["told_page"] != row["id"]


def _is_retitled(row: sqlite3.Row) -> bool:
    """Return whether a page has another title than the one that was told."""
    old, new, language = row["told_title"], row["title"], row["language"]
    return bool(old and new) and masked(old, language) != masked(new, language)


def _hash(key: str) -> bytes:
    return xxhash.xxh3_64_digest(key.encode("utf-8", "surrogatepass"))


def _bounded(passages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        passage if len(passage) <= MAX_CHARACTERS else f"{passage[:MAX_CHARACTERS]}…"
        for passage in passages[:MAX_PASSAGES]
    )
