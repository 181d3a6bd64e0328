"""Find what changed in a crawl directory since it was told last, and put it in words."""

from __future__ import annotations

import sqlite3
import uuid
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.export import iso_time
from crawler.pages.reasons import in_words
from crawler.pages.stored_texts import HeldTexts, unpack_judged
from crawler.pages.verdicts import FORBIDDEN, GONE, KEPT, MOVED, OF_TEXTS, READ, listed
from crawler.pages.wall_clusters import host_of
from crawler.watch.differences import Difference, find_difference, one_sided_keys
from crawler.watch.watch_store import Change
from neardup.plurals import many
from neardup.volatile.phrases import masked

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_TITLES = f"""
INSERT OR IGNORE INTO titles SELECT pages.key, pages.title, 0 FROM pages WHERE {_TEXTS}
"""
_TITLES_THAT_STAYED = f"""
UPDATE titles SET changed = 0 WHERE changed > 0 AND changed < (
    SELECT seen_visit FROM pages WHERE pages.key = titles.key AND {_TEXTS})
"""
_DIFFERING = f"""
SELECT pages.key, pages.id, pages.url, pages.title, pages.language, pages.words, pages.verdict,
       pages.seen_at, coalesce({_IS_AWAY}, 0) AS is_away, coalesce({_IS_READ}, 0) AS is_read,
       known.outcome, known.reason, known.moved_to,
       pages.seen_visit, told.page AS told_page, told.is_away AS was_away,
       titles.title AS told_title, coalesce(titles.changed, 0) AS title_changed
FROM pages NOT INDEXED LEFT JOIN known USING (key) LEFT JOIN told ON told.key = pages.key
LEFT JOIN titles ON titles.key = pages.key
WHERE pages.id > ? AND {_TEXTS} AND (told.key IS NULL OR told.page <> pages.id
  OR (told.is_away AND {_IS_READ}) OR (NOT told.is_away AND {_IS_AWAY})
  OR (titles.key IS NOT NULL AND titles.title IS NOT pages.title))
ORDER BY pages.id LIMIT {_BATCH}
"""
_DROPPED = f"""
SELECT told.key, told.page, pages.id, pages.url, pages.title, pages.verdict
FROM told CROSS JOIN pages ON pages.key = told.key AND pages.latest = 1
WHERE told.key > ? AND NOT told.is_away AND pages.verdict NOT IN ({listed(OF_TEXTS)})
ORDER BY told.key LIMIT {_BATCH}
"""

_SIDES = """
CREATE TEMP TABLE IF NOT EXISTS one_sided (
    host INTEGER, hash BLOB, pages INTEGER NOT NULL, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
DELETE FROM one_sided;
"""
_COUNT_SIDE = """
INSERT INTO one_sided VALUES (?, ?, 1) ON CONFLICT (host, hash) DO UPDATE SET pages = pages + 1
"""
_REPEATED = "SELECT host, hash, pages FROM one_sided WHERE pages >= ?"
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
        with store.changing():
            store.connection.execute("DELETE FROM told")
            store.connection.execute(f"INSERT INTO told {_STATES}")
            store.connection.execute(_TITLES)
            store.note_based()
        return int(store.connection.execute("SELECT count(*) FROM told").fetchone()[0])

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
        connection = self._store.connection
        comparison = _Comparison(connection)
        for rows in _batches(connection, _DIFFERING, "id", 0):
            some = [(row, self._change_of(row, comparison, now)) for row in rows]
            with self._store.changing():
                for row, change in some:
                    self._note(row)
                    if change is None:
                        slight += _has_two(row) or _is_retitled(row)
                    else:
                        self._take(change, found)
        for rows in _batches(connection, _DROPPED, "key", b""):
            with self._store.changing():
                for row in rows:
                    self._store.note_told(row["key"], row["told_page"], is_away=True)
                    self._take(self._dropped(row, now), found)
        with self._store.changing():
            connection.execute(_TITLES)  # of pages that an older watch told
            connection.execute(_TITLES_THAT_STAYED)
        return found._replace(slight=slight)

    def _note(self, row: sqlite3.Row) -> None:
        """Note what is known of a page from now on."""
        is_away = bool(row["is_away"] or (row["was_away"] and not row["is_read"]))
        self._store.note_told(row["key"], row["id"], is_away=is_away)
        changed = row["seen_visit"] if _is_retitled(row) else row["title_changed"]
        self._store.note_title(row["key"], row["title"], changed)

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
        if not difference.summary:
            return None
        return self._change(row, CHANGED, row["seen_at"], difference, difference.summary)

    def _new(self, row: sqlite3.Row) -> Change:
        words = row["words"] or 0
        summary = f"a new page of {many(words, 'word')}"
        return self._change(row, NEW, row["seen_at"], Difference(words_added=words), summary)

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
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._texts = HeldTexts(connection.execute)
        self._boilerplate = HostBoilerplate(connection.execute)
        self._repeated = self._repeated_keys()

    def _repeated_keys(self) -> set[tuple[int, bytes]]:
        """Return the hashes of paragraphs in which many pages of a host changed, with the host.

        The crawl counts the boilerplate of pages that are captured first, and does not know a
        notice that a site has put on all of its pages since. They are counted in a table of
        SQLite, which spills to the disk: a visit may find all pages of a large site changed.
        """
        self._connection.executescript(_SIDES)
        for rows in _batches(self._connection, _DIFFERING, "id", 0):
            sides = [side for row in rows for side in self._sides(row)]
            self._connection.executemany(_COUNT_SIDE, sides)
        many = self._connection.execute(_REPEATED, (MIN_REPEATED,)).fetchall()
        pages = {
            host: 0 if (counts := self._boilerplate.blocks(host)) is None else counts.texts
            for host in {host for host, _, _ in many}
        }
        self._connection.executescript(_SIDES)
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
        title = self._said_of_title(row)
        if not _has_two(row):
            return Difference(summary=title)
        texts = self._both(row)
        if texts is None:
            return Difference(summary="the text changed; the one before is not stored any more")
        found = find_difference(
            *texts, row["language"], lambda passage: self._is_boilerplate(row["url"], passage)
        )
        parts = [part for part in (title, found.summary) if part]
        return Difference(
            found.added,
            found.removed,
            found.words_added,
            found.words_removed,
            "; ".join(parts),
        )

    def _said_of_title(self, row: sqlite3.Row) -> str:
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


def _batches(
    connection: sqlite3.Connection, sql: str, column: str, last: int | bytes
) -> Iterator[list[sqlite3.Row]]:
    """Yield rows in batches, each of them read before anything is written.

    Args:
        connection: Connection to both databases.
        sql: Statement for the rows after one, in the order of a column.
        column: The column.
        last: What comes before its first value.
    """
    while True:
        cursor = connection.cursor()
        cursor.row_factory = sqlite3.Row
        rows = cursor.execute(sql, (last,)).fetchall()
        if not rows:
            return
        yield rows
        last = rows[-1][column]


def _bounded(passages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        passage if len(passage) <= MAX_CHARACTERS else f"{passage[:MAX_CHARACTERS]}…"
        for passage in passages[:MAX_PASSAGES]
    )
