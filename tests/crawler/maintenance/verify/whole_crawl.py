"""A crawl that has a value in every column of nearly every table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import zstandard

from crawler.pages.page_links import LinkPacker
from crawler.reading.reading import StoredLink
from crawler.storage.checksums import keep_checksums
from crawler.urls.canonical import Canonicalizer
from tests.crawler.maintenance.verify.crawled import make

if TYPE_CHECKING:
    from pathlib import Path

_DICTIONARY = b"http://example.com/a\nhttp://example.com/b"
_LINKS = [StoredLink("http://example.com/a", False)]

ABSENT = (
    "UPDATE pages SET etag = '\"1\"', last_modified = 'Sun, 01 Nov 2026 10:00:00 GMT',"
    " author = 'Ann', date = '2026-11-01', language = 'en', declared_url = url"
    " WHERE url LIKE '%/other'",
    "UPDATE known SET reason = 'said so', moved_to = 'http://example.com/other'"
    " WHERE key = (SELECT key FROM pages WHERE url LIKE '%/other')",
    "UPDATE url_groups SET (page, kept, words) = (SELECT id, id, words_digest FROM pages"
    " WHERE url LIKE '%/other'), similarity = 1.0, links = 0, visit = 1",
    "INSERT INTO url_rules SELECT id + 1, 2, replace(rule, '\"sid\"', '\"tab\"'), positives,"
    " explored, saved, tried, origin, since, 'the texts differ' FROM url_rules",
    "INSERT INTO variants VALUES (zeroblob(16), zeroblob(16), zeroblob(16), 'example.com',"
    " 'sort-query', 'http://example.com/?b&a', 0, 0, 'http://example.com/')",
    'INSERT INTO url_rules SELECT max(id) + 1, 3, \'{"context": {"host": "example.com"},'
    ' "transform": {"kind": "standard", "name": "sort_arguments"}}\', 0, 1, 1, \'{"due_at": 9}\','
    " 'docs/urls.md', 1.0, 'another page' FROM url_rules",
    "INSERT INTO host_turns VALUES (9, 1)",
    "INSERT INTO host_pauses VALUES (1, 'example.com', 9.0, 1, 5.0, 1, 5.0, 'HTTP 503')",
    "INSERT INTO file_links VALUES (zeroblob(16), 'example.com/a/*.pdf', 'example.com pdf',"
    " 'http://example.com/a/b.pdf', 1, 'http://example.com/')",
    "UPDATE known SET referer = 'http://example.com/'",
    "INSERT INTO wall_clusters VALUES"
    " (99, 1, zeroblob(16), 'login', x'', x'', x'', 0, 'wall', 'asks who you are', 1)",
    "INSERT OR REPLACE INTO wall_pages SELECT id, 99, id FROM pages WHERE url LIKE '%/other'",
    "INSERT INTO wall_probes VALUES (1, 'http://example.com/0123456789abcdef', zeroblob(16))",
    "INSERT INTO name_slots VALUES (1, 'title:1:seen #0 times', zeroblob(8), 2, 3, 0)",
)
"""Values that the captured pages do not lead to."""


def make_whole(folder: Path) -> None:
    """A crawl that has a value in every column of nearly every table."""
    make(folder)
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        keep_checksums(connection)
        write = connection.execute
        pages = [key for (key,) in write("SELECT key FROM pages WHERE latest = 1 ORDER BY id")]
        write(
            "INSERT INTO url_kinds"
            " VALUES (1, 'text', 'example.com/?', 4, 10, 5, 2, 1, 3, 7, 'slow', 'few new')"
        )
        url = "http://example.com/old"
        key = Canonicalizer().key(url)
        write("INSERT INTO redirects VALUES (?, ?, ?, '')", (key, url, pages[0]))
        write("INSERT INTO file_redirects VALUES (?, ?, '')", (key, pages[0]))
        write("INSERT INTO link_dictionary VALUES (1, ?)", (_DICTIONARY,))
        for number, packer in enumerate((LinkPacker(), LinkPacker(_DICTIONARY))):
            packed = packer.pack(_LINKS, nofollow=False)
            row = (pages[number], number, packed, zstandard.compress(b'[["here"], {}]'))
            write("INSERT INTO links (key, shared, urls, places) VALUES (?, ?, ?, ?)", row)
        sql = "SELECT DISTINCT text_digest FROM pages WHERE text IS NOT NULL LIMIT 2"
        pair = sorted(digest for (digest,) in write(sql))
        write("INSERT INTO external_links VALUES ('http://other.example/', 1.0, 'HTTP 404')")
        write("INSERT INTO labels VALUES (?, ?, 'different', 'http://a/', 'http://b/', 1.0)", pair)
        write("UPDATE pages SET html = text WHERE url LIKE '%/other'")
        for statement in ABSENT:
            write(statement)


def of(path: str) -> str:
    """Return the condition on ``pages`` that chooses the newest capture of a page."""
    return f"url = 'http://example.com{path}' AND latest = 1"
