"""Find what changed in a crawl directory since it was told last, and put it in words."""

from __future__ import annotations

import sqlite3
import uuid
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.maintenance.crawl_report import make_tally
from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.export import iso_time
from crawler.pages.reasons import in_words
from crawler.pages.stored_texts import HeldTexts, unpack_judged
from crawler.pages.verdicts import FORBIDDEN, GONE, KEPT, MOVED, OF_TEXTS, READ, listed
from crawler.pages.wall_clusters import host_of
from crawler.storage import meta_names
from crawler.watch.differences import Difference, find_difference, one_sided_keys
from crawler.watch.volatile import masked
from crawler.watch.watch_store import Change
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.watch.differences import Passage
    from crawler.watch.watch_store import WatchStore

NEW = "new"
CHANGED = "changed"
AWAY = "gone"
BACK = "back"
KINDS = (NEW, CHANGED, AWAY, BACK)

MIN_REPEATED = 10
"""A paragraph that a visit adds to so many pages of a host, or takes away, may be boilerplate."""

MIN_SHARE = 0.1
"""It is where those pages are such a share of all pages of the host."""

_BATCH = 100
"""Note so many pages in a transaction."""

MAX_PASSAGES = 50
"""A change has at most this many passages of either kind; the numbers of words count all."""

MAX_CHARACTERS = 2_000
"""A passage of a change has at most this many characters."""

_IS_AWAY = f"known.outcome IN ({listed({MOVED, GONE, FORBIDDEN})})"
_IS_READ = f"known.outcome IN ({listed(READ)})"
_TEXTS = f"pages.latest = 1 AND pages.verdict IN ({listed(OF_TEXTS)})"

_STATES = f"""
SELECT pages.key, pages.id, coalesce({_IS_AWAY}, 0) FROM pages LEFT JOIN known USING (key)
WHERE {_TEXTS}
"""
_DIFFERING = f"""
SELECT pages.key, pages.id, pages.url, pages.title, pages.language, pages.words, pages.verdict,
       pages.seen_at, coalesce({_IS_AWAY}, 0) AS is_away, coalesce({_IS_READ}, 0) AS is_read,
       known.outcome, known.reason, known.moved_to,
       told.page AS told_page, told.is_away AS was_away
FROM pages LEFT JOIN known USING (key) LEFT JOIN told ON told.key = pages.key
WHERE {_TEXTS} AND (told.key IS NULL OR told.page <> pages.id
  OR (told.is_away AND {_IS_READ}) OR (NOT told.is_away AND {_IS_AWAY}))
ORDER BY pages.id
"""
_DROPPED = f"""
SELECT told.key, told.page, pages.id, pages.url, pages.title, pages.verdict
FROM told JOIN pages ON pages.key = told.key AND pages.latest = 1
WHERE NOT told.is_away AND pages.verdict NOT IN ({listed(OF_TEXTS)})
"""


class Found(NamedTuple):
    """What was found since the last time.

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
        if self._is_first_visit:
            return None
        with store.changing():
            store.connection.execute("DELETE FROM told")
            store.connection.execute(f"INSERT INTO told {_STATES}")
            store.note_based()
        return int(store.connection.execute("SELECT count(*) FROM told").fetchone()[0])

    @property
    def _is_first_visit(self) -> bool:
        connection = self._store.connection
        sql = "SELECT value FROM meta WHERE name = ?"
        row = connection.execute(sql, (meta_names.VISIT,)).fetchone()
        visit = int(row[0]) if row else 0
        return visit == 0 or (visit == 1 and make_tally(connection, visit).queued > 0)

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
        rows = _rows(self._store.connection, _DIFFERING)
        comparison = _Comparison(self._store.connection, rows)
        for start in range(0, len(rows), _BATCH):
            some = [
                (row, self._change_of(row, comparison, now)) for row in rows[start : start + _BATCH]
            ]
            with self._store.changing():
                for row, change in some:
                    is_away = bool(row["is_away"] or (row["was_away"] and not row["is_read"]))
                    self._store.note_told(row["key"], row["id"], is_away=is_away)
                    if change is None:
                        slight += _has_two(row)
                    else:
                        self._take(change, found)
        dropped = _rows(self._store.connection, _DROPPED)
        with self._store.changing():
            for row in dropped:
                self._store.note_told(row["key"], row["told_page"], is_away=True)
                self._take(self._dropped(row, now), found)
        return found._replace(slight=slight)

    def _take(self, change: Change, found: Found) -> None:
        self._store.add(change)
        found.counts[change.kind] += 1

    def _change_of(self, row: sqlite3.Row, comparison: _Comparison, now: float) -> Change | None:
        """Return the change of a page; None: none that is told."""
        if row["told_page"] is None:
            is_news = row["verdict"] in KEPT and not row["is_away"]
            return self._new(row) if is_news else None
        if row["is_away"]:
            return None if row["was_away"] else self._gone(row, now)
        difference = comparison.difference(row)
        if row["was_away"]:
            return self._back(row, difference) if row["is_read"] else None
        return self._changed(row, difference) if difference.summary else None

    def _new(self, row: sqlite3.Row) -> Change:
        words = row["words"] or 0
        summary = f"a new page of {many(words, 'word')}"
        return self._change(row, NEW, row["seen_at"], Difference(words_added=words), summary)

    def _changed(self, row: sqlite3.Row, difference: Difference) -> Change:
        return self._change(row, CHANGED, row["seen_at"], difference, difference.summary)

    def _back(self, row: sqlite3.Row, difference: Difference) -> Change:
        what = difference.summary or "its text is the same as before"
        return self._change(row, BACK, row["seen_at"], difference, f"the page is back; {what}")

    def _gone(self, row: sqlite3.Row, now: float) -> Change:
        why = in_words(row["reason"])
        if row["outcome"] == MOVED:
            summary = f"the URL redirects to {row['moved_to']}"
        elif row["outcome"] == FORBIDDEN:
            summary = "robots.txt forbids the page now"
        else:
            summary = f"the page is gone: {why}" if why else "the page is gone"
        return self._change(row, AWAY, now, Difference(), summary)

    def _dropped(self, row: sqlite3.Row, now: float) -> Change:
        summary = f"the URL gives no page with a text any more ({row['verdict']})"
        return self._change(row, AWAY, now, Difference(), summary)

    def _change(
        self, row: sqlite3.Row, kind: str, when: float, difference: Difference, summary: str
    ) -> Change:
        return Change(
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
        connection: Connection to both databases.
        rows: The pages.
    """

    def __init__(self, connection: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> None:
        self._connection = connection
        self._texts = HeldTexts(connection.execute)
        self._boilerplate = HostBoilerplate(connection.execute)
        self._repeated = self._repeated_keys([row for row in rows if _has_two(row)])

    def _repeated_keys(self, rows: Sequence[sqlite3.Row]) -> set[tuple[int, int]]:
        """Return the hashes of paragraphs in which many pages of a host changed, with the host.

        The crawl counts the boilerplate of pages that are captured first, and does not know a
        notice that a site has put on all of its pages since.
        """
        if len(rows) < MIN_REPEATED:
            return set()
        counts = Counter[tuple[int, int]]()
        for row in rows:
            texts = self._both(row)
            if texts is not None:
                host = host_of(row["url"])
                keys = one_sided_keys(*texts, row["language"])
                counts.update((host, _hash(key)) for key in keys)
        many = {found: count for found, count in counts.items() if count >= MIN_REPEATED}
        pages = {host: self._count_pages(host) for host in {host for host, _ in many}}
        return {found for found, count in many.items() if count >= MIN_SHARE * pages[found[0]]}

    def _count_pages(self, host: int) -> int:
        """Return how many pages of a host were counted for its boilerplate."""
        sql = "SELECT texts FROM crawl.host_blocks WHERE host = ?"
        row = self._connection.execute(sql, (host,)).fetchone()
        return 0 if row is None else int(row[0])

    def _both(self, row: sqlite3.Row) -> tuple[str, str] | None:
        """Return the text that was told and that of a row; None where one is not stored."""
        old, new = self._texts.of_page(row["told_page"]), self._texts.of_page(row["id"])
        if old is None or new is None:
            return None
        return unpack_judged(old.text), unpack_judged(new.text)

    def _is_boilerplate(self, url: str, passage: Passage) -> bool:
        if (host_of(url), _hash(passage.key)) in self._repeated:
            return True
        return self._boilerplate.is_boilerplate(url, passage.text)

    def difference(self, row: sqlite3.Row) -> Difference:
        """Return what differs between the capture that was told and that of a row."""
        if not _has_two(row):
            return Difference()
        texts = self._both(row)
        if texts is None:
            return Difference(summary="the text changed; the one before is not stored any more")
        found = find_difference(
            *texts, row["language"], lambda passage: self._is_boilerplate(row["url"], passage)
        )
        title = self._said_of_title(row)
        parts = [part for part in (title, found.summary) if part]
        return Difference(
            found.added,
            found.removed,
            found.words_added,
            found.words_removed,
            "; ".join(parts),
        )

    def _said_of_title(self, row: sqlite3.Row) -> str:
        sql = "SELECT title FROM pages WHERE id = ?"
        before = self._connection.execute(sql, (row["told_page"],)).fetchone()
        old, new = (before[0] if before else None) or "", row["title"] or ""
        if not old or not new or masked(old, row["language"]) == masked(new, row["language"]):
            return ""
        return f'the title changed from "{old}" to "{new}"'


def _has_two(row: sqlite3.Row) -> bool:
    """Return whether a page has another capture than the one that was told."""
    return row["told_page"] is not None and row["told_page"] != row["id"]


def _hash(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))


def _rows(connection: sqlite3.Connection, sql: str) -> list[sqlite3.Row]:
    """Return rows, which are read before anything is written."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(sql).fetchall()


def _bounded(passages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        passage if len(passage) <= MAX_CHARACTERS else f"{passage[:MAX_CHARACTERS]}…"
        for passage in passages[:MAX_PASSAGES]
    )
