"""Search the kept pages of a crawl by words: an index of its own beside ``crawl.db``."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.export import ALL, PageSelection
from crawler.pages.items import text_of
from crawler.pages.verdicts import AWAY_OUTCOME
from crawler.storage.database import FILE_NAME, reading_mode
from crawler.suggestions import UserError
from neardup.files.durable import open_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

INDEX_NAME = "search.db"
"""File name of the index in a crawl directory; it may be deleted at any time."""

_BATCH = 500
"""Commit after this many pages: what is indexed when the user has had enough is of use."""

_MAX_STALE_SHARE = 0.25
"""Make the index again where this share of its entries or more is of captures that are gone."""

_VERSION = 1
_PATIENCE_SECS = 60.0
_SNIPPET_TOKENS = 24

_TOKENIZER = "tokenize = \"unicode61 remove_diacritics 2 categories 'L* N* Co M*'\""
"""Marks belong to words: without them a vowel sign ends a word of Hindi or Arabic."""

_SCHEMA = f"""
CREATE TABLE entries (
    id     INTEGER PRIMARY KEY, -- rowid in indexed
    page   INTEGER NOT NULL,    -- pages.id
    digest BLOB                 -- pages.text_digest when it was indexed
);
CREATE UNIQUE INDEX entries_page ON entries (page);
CREATE VIRTUAL TABLE indexed USING fts5(url, title, text, content = '', {_TOKENIZER});
PRAGMA user_version = {_VERSION};
"""

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff])"
)
_BREAK = "\u200b"
"""Zero-width space: it ends a token, and is taken out of what is shown."""

_KEPT = "pages.latest = 1 AND pages.text IS NOT NULL"
_GONE = f"""
DELETE FROM entries WHERE NOT EXISTS (
    SELECT 1 FROM crawl.pages WHERE pages.id = entries.page AND {_KEPT}
    AND text_digest IS entries.digest)
"""
_MISSING = f"""
SELECT id, url, title, content, text_digest FROM crawl.pages
WHERE {_KEPT} AND id > ? AND id NOT IN (SELECT page FROM entries) ORDER BY id LIMIT {_BATCH}
"""
_HITS = f"""
SELECT entries.page, bm25(indexed, 2.0, 5.0, 1.0) AS score FROM indexed
JOIN entries ON entries.id = indexed.rowid JOIN crawl.pages ON pages.id = entries.page
WHERE indexed MATCH ? AND {_KEPT} AND {{}} ORDER BY score, entries.page LIMIT ?
"""


class SearchError(UserError, ValueError):
    """The words cannot be searched, or the index not written; one line for the user."""


class Hit(NamedTuple):
    """A page that has the words.

    Attributes:
        url: Its URL.
        title: Its title, empty where it has none.
        score: Its rank by BM25: the smaller, the better.
        snippet: A piece of its text, on one line, with the words in ``[`` and ``]``.
        away: The outcome of its last visit where that gave no page any more, such as ``gone``.
    """

    url: str
    title: str
    score: float
    snippet: str
    away: str | None


class PageSearch:
    """Full-text search over URL, title and shown text of the kept pages of a crawl.

    A crawl never writes the index, and reads and writes of it hold up none: ``update`` adds what is
    new, in transactions of their own. Words of scripts without spaces are single characters, and a
    run of them in a query is a phrase.

    Args:
        folder: The crawl directory.

    Files:
        search.db: The index (``INDEX_NAME``); without the texts themselves. Of a directory that
            cannot be written it is a temporary file of the system.

    Raises:
        SearchError: The index cannot be opened, or not be made.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / INDEX_NAME
        try:
            self._database = self._opened(folder)
        except sqlite3.Error as error:
            raise SearchError(f"{self._path}: {error}; it may be deleted") from None

    def _opened(self, folder: Path) -> sqlite3.Connection:
        # A temporary file, gone with the process, where none can be kept.
        can_keep = os.access(folder, os.W_OK)
        database = (
            open_sqlite(self._path, timeout=_PATIENCE_SECS)
            if can_keep
            else sqlite3.connect("", uri=True, isolation_level=None)
        )
        try:
            database.row_factory = sqlite3.Row
            crawl = folder / FILE_NAME
            database.execute(
                "ATTACH ? AS crawl", (f"{crawl.absolute().as_uri()}?{reading_mode(crawl)}",)
            )
            database.execute("BEGIN IMMEDIATE")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                self._make_anew(database)
            database.execute("COMMIT")
        except BaseException:
            database.close()
            raise
        return database

    def _make_anew(self, database: sqlite3.Connection) -> None:
        database.execute("DROP TABLE IF EXISTS indexed")
        database.execute("DROP TABLE IF EXISTS entries")
        for statement in _SCHEMA.split(";\n"):
            database.execute(statement)

    def close(self) -> None:
        self._database.close()

    def update(self, watch: Callable[[float, str], None]) -> int:
        """Index the kept pages that are not indexed yet; return how many they were.

        Complexity: O(pages) without their texts, and the texts that are new.

        Raises:
            SearchError: The index cannot be written, or the crawl not read.
        """
        try:
            self._forget_gone()
            count, last = 0, 0
            while True:
                self._database.execute("BEGIN IMMEDIATE")
                rows = self._database.execute(_MISSING, (last,)).fetchall()
                for row in rows:
                    self._add(row)
                self._database.execute("COMMIT")
                if not rows:
                    return count
                count, last = count + len(rows), rows[-1]["id"]
                watch(0.0, f"{count:,} pages indexed")
        except sqlite3.Error as error:
            raise SearchError(f"{self._path}: {error}") from None
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    def _forget_gone(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(_GONE)
        (kept,) = self._database.execute("SELECT count(*) FROM entries").fetchone()
        (made,) = self._database.execute("SELECT count(*) FROM indexed_docsize").fetchone()
        if made - kept > _MAX_STALE_SHARE * made:
            self._make_anew(self._database)
        self._database.execute("COMMIT")

    def _add(self, row: sqlite3.Row) -> None:
        # Entries that are gone keep their rowids in the index of words.
        sql = "SELECT coalesce(max(id), 0) + 1 FROM indexed_docsize"
        (number,) = self._database.execute(sql).fetchone()
        self._database.execute(
            "INSERT INTO entries VALUES (?, ?, ?)", (number, row["id"], row["text_digest"])
        )
        self._database.execute(
            "INSERT INTO indexed (rowid, url, title, text) VALUES (?, ?, ?, ?)",
            (number, row["url"], *map(_broken, (row["title"], text_of(row["content"])))),
        )

    def find(self, words: str, most: int, selection: PageSelection = ALL) -> list[Hit]:
        """Return the pages that have all words, the best first.

        Args:
            words: Words, or a query in the syntax of SQLite's FTS5.
            most: Return at most this many.
            selection: The pages that are looked at.

        Raises:
            SearchError: The words are no query.
        """
        query, chosen = _broken(words), selection.condition()
        try:
            rows = self._database.execute(
                _HITS.format(chosen.sql), (query, *chosen.values, most)
            ).fetchall()
        except sqlite3.Error as error:
            hint = "put what is not a word into double quotes"
            raise SearchError(f"cannot search for {words!r}: {error}; {hint}") from None
        return list(self._hits(rows, query))

    def _hits(self, rows: list[sqlite3.Row], query: str) -> Iterator[Hit]:
        """Make the snippets in a small index of the hits: the large one has no texts."""
        sql = f"SELECT url, title, content, {AWAY_OUTCOME} AS away FROM crawl.pages WHERE id = ?"
        made = f"CREATE VIRTUAL TABLE one USING fts5(url, title, text, {_TOKENIZER})"
        shown = (
            f"SELECT snippet(one, 2, '[', ']', '…', {_SNIPPET_TOKENS}) FROM one WHERE one MATCH ?"
        )
        with closing(sqlite3.connect(":memory:")) as memory:
            memory.execute(made)
            for row in rows:
                page = self._database.execute(sql, (row["page"],)).fetchone()
                if page is None:  # the crawl beside it forgot this version
                    continue
                title, text = _broken(page["title"]), _broken(text_of(page["content"]))
                memory.execute("DELETE FROM one")
                memory.execute("INSERT INTO one VALUES (?, ?, ?)", (page["url"], title, text))
                found = memory.execute(shown, (query,)).fetchone()
                piece = "" if found is None else " ".join(found[0].replace(_BREAK, "").split())
                yield Hit(page["url"], page["title"] or "", row["score"], piece, page["away"])


def _broken(text: str | None) -> str:
    """Return a text with a break after each character of a script without spaces."""
    return _UNSPACED.sub(rf"\1{_BREAK}", text or "")
