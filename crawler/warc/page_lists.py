"""List the pages of an archive for players, with titles and texts where the crawl is known.

WACZ 1.1.1 has ``pages/pages.jsonl``, in which a page may have a title and a text, and further
lists. ReplayWeb.page shows and searches ``pages.jsonl``; where there is ``extraPages.jsonl``, it
searches that one alone. The list of pages that are not kept therefore has another name.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGES = "pages/pages.jsonl"
OTHERS = "pages/otherPages.jsonl"

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_REVISIT = "warc/revisit"

_TABLE = """
CREATE TABLE captures (
    url     TEXT PRIMARY KEY,
    stamp   TEXT NOT NULL,      -- of the newest capture
    is_html INTEGER NOT NULL,   -- 1: one of them is an HTML page
    is_kept INTEGER NOT NULL    -- 1: it is in the list of kept pages
) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO captures VALUES (?, ?, ?, 0) ON CONFLICT (url) DO UPDATE
SET stamp = max(stamp, excluded.stamp), is_html = max(is_html, excluded.is_html)
"""


class PageLists:
    """The two lists of an archive.

    Its captures are in a temporary database on disk, so memory does not grow with the archive.

    Args:
        lines: Lines of the CDXJ index.
        kept: Kept pages of the crawl, as ``export_pages`` yields them; None: the crawl is not
            known, and every HTML page is in the first list.
    """

    def __init__(self, lines: Iterable[bytes], kept: Iterable[dict[str, Any]] | None) -> None:
        self._kept = kept
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(f"{_TABLE} BEGIN;")
        self._database.executemany(_ADD, _captures(lines))

    def close(self) -> None:
        self._database.close()

    def pages(self) -> Iterator[bytes]:
        """Yield the lines of ``pages.jsonl``; read it before the other list."""
        yield _line(
            {
                "format": "json-pages-1.0",
                "id": "pages",
                "title": "All Pages" if self._kept is None else "Kept Pages",
                "hasText": self._kept is not None,
            }
        )
        if self._kept is None:
            yield from self._rest()
            return
        find, mark = (
            "SELECT stamp FROM captures WHERE url = ?",
            "UPDATE captures SET is_kept = 1 WHERE url = ?",
        )
        for page in self._kept:
            url = page["url"].partition("#")[0]
            row = self._database.execute(find, (url,)).fetchone()
            if row is not None:  # it is recorded
                self._database.execute(mark, (url,))
                yield _page(url, row[0], page["title"], page["text"])

    def others(self) -> Iterator[bytes]:
        """Yield the lines of the list of all other HTML pages, such as near-duplicates."""
        yield _line({"format": "json-pages-1.0", "id": "other-pages", "title": "Other Pages"})
        yield from self._rest()

    def _rest(self) -> Iterator[bytes]:
        sql = "SELECT url, stamp FROM captures WHERE is_html AND NOT is_kept ORDER BY url"
        for url, stamp in self._database.execute(sql):
            yield _page(url, stamp, None, None)


def _captures(lines: Iterable[bytes]) -> Iterator[tuple[str, str, bool]]:
    for line in lines:
        _, stamp, entry = line.split(b" ", 2)
        capture = json.loads(entry)
        # The record of an answer "not modified" has no status.
        if capture.get("status", "200") == "200":
            mime = capture.get("mime")
            if mime in _HTML or mime == _REVISIT:
                yield capture["url"], stamp.decode("ascii"), mime in _HTML


def _page(url: str, stamp: str, title: str | None, text: str | None) -> bytes:
    at = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    named = {
        "id": hashlib.blake2b(f"{url} {stamp}".encode(), digest_size=10).hexdigest(),
        "url": url,
        "ts": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "title": title,
        "text": text,
    }
    return _line({name: value for name, value in named.items() if value})


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told).encode() + b"\n"
