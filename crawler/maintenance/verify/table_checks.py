"""Check that the tables agree on each page, its key, and the values of the crawl itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from crawler.maintenance.verify.column_checks import NEWEST_VISIT
from crawler.maintenance.verify.finding import Mend, Rule, writing
from crawler.pages.boilerplate import held_counts
from crawler.pages.page_links import LinkPacker, unpack_places
from crawler.pages.verdicts import MOVED, WITHOUT_PAGE, listed
from crawler.pages.wall_clusters import host_of
from crawler.reading.reading import StoredLink
from crawler.storage import meta_names
from crawler.storage.states import LEASED, WAITING
from crawler.urls.canonical import MalformedUrl
from neardup.errors import NearDupError
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer
    from crawler.urls.canonical import Canonicalizer

_KNOWN_ONLY = f"""
SELECT key, coalesce((SELECT url FROM requests WHERE requests.key = known.key), '') FROM known
WHERE outcome <> '{MOVED}' AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = known.key)
  AND NOT EXISTS (
      SELECT 1 FROM requests WHERE requests.key = known.key AND state IN ({WAITING}, {LEASED}))
"""
_PAGES_ONLY = f"""
SELECT id, url FROM pages WHERE latest = 1 AND visit > 0
  AND verdict NOT IN ({listed(WITHOUT_PAGE)})
  AND NOT EXISTS (SELECT 1 FROM known WHERE known.key = pages.key)
"""
_DUE_NOW = """
INSERT OR IGNORE INTO known
SELECT key, max(visit, seen_visit), 'unchanged', visit, NULL, NULL, NULL, NULL, 0, 0, 0,
       86400.0, CAST(unixepoch() AS REAL), NULL, NULL
FROM pages WHERE id = ?
"""


def find_strange(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check the agreement of tables on each page, and the values of the crawl itself.

    Complexity: O(rows), and one canonical URL a page.
    """
    if directory.canonicalizer is None:
        yield URL_RULES.finding(URL_RULES.what)
    yield from META.found(_wrong_meta(directory))
    yield from KEYS.found(_wrong_keys(directory))
    yield from REDIRECTS.found((key, "") for key in _wrong_redirects(directory))
    read = directory.connection.execute
    yield from LOST.found(((key, url), url) for key, url in read(_KNOWN_ONLY))
    yield from UNKNOWN.found(read(_PAGES_ONLY))
    yield from COUNTS.found((host, "") for host in _wrong_counts(read))
    yield from LINKS.found(
        (number, "") for number in _unreadable_links(directory.connection.execute)
    )


def _wrong_meta(directory: CrawlDirectory) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield name and right value of each row of ``meta`` that is wrong, and the name."""
    for name, sql in (
        (meta_names.VISIT, f"SELECT {NEWEST_VISIT}"),
        (meta_names.LAST_VISIT, "SELECT coalesce(max(seen_visit), 0) FROM pages"),
    ):
        value, newest = directory.meta.get(name, "0"), directory.count(sql)
        if not value.isdecimal() or int(value) < newest:
            yield (name, str(newest)), name


def _wrong_counts(read: Callable[..., sqlite3.Cursor]) -> Iterator[int]:
    """Yield the hosts of ``host_blocks`` without a page, and those whose counts cannot be read."""
    hosts = {host_of(url) for (url,) in read("SELECT url FROM pages")}
    newest = read("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0]
    for host, *values in read("SELECT host, texts, error, last, blocks FROM host_blocks"):
        try:
            held = held_counts(*values)
        except (NearDupError, TypeError, ValueError):
            yield host
        else:
            counts = held.counts
            if host not in hosts or counts.texts < 1 or counts.error < 0 or held.last > newest:
                yield host


def _wrong_keys(directory: CrawlDirectory) -> Iterator[tuple[tuple[str, bytes, int], str]]:
    """Yield right canonical URL, right key and id of each capture that has others, and its URL.

    Only for crawls by our own spiders: items of others may have keys of their own.
    """
    canonicalizer = directory.canonicalizer
    if canonicalizer is None or directory.plan is None:
        return
    rows = directory.connection.execute("SELECT id, url, canonical_url, key FROM pages ORDER BY id")
    for page_id, url, canonical_url, key in rows:
        right = _names(canonicalizer, url)
        # Another crawl, or an earlier visit, may have requested the variant before its page.
        of_page = _names(canonicalizer.without(()), url)
        if canonical_url not in {right[0], of_page[0]} or key not in {right[1], of_page[1]}:
            yield (*right, page_id), url


def _names(canonicalizer: Canonicalizer, url: str) -> tuple[str, bytes]:
    """Return canonical URL and key of a URL, also of one that is malformed."""
    try:
        return canonicalizer(url), canonicalizer.key(url)
    except MalformedUrl:
        return url, payload_digest(url.encode("utf-8", "surrogatepass"))


def _wrong_redirects(directory: CrawlDirectory) -> Iterator[bytes]:
    """Yield the keys of redirects that do not fit their URLs, for crawls by our own spiders."""
    canonicalizer = directory.canonicalizer
    if canonicalizer is None or directory.plan is None:
        return
    for key, url in directory.connection.execute("SELECT key, url FROM redirects"):
        try:
            is_right = key in {canonicalizer.key(url), canonicalizer.description_key(url)}
        except MalformedUrl:
            is_right = False
        if not is_right:
            yield key


def _unreadable_links(read: Callable[[str], sqlite3.Cursor]) -> Iterator[int]:
    """Yield the ids of the lists of links that are unreadable or belong to no page."""
    dictionary = read("SELECT urls FROM link_dictionary WHERE typeof(urls) = 'blob'").fetchone()
    plain = LinkPacker()
    shared = None if dictionary is None else LinkPacker(dictionary[0])
    sql = "SELECT id, shared, urls, places, key IN (SELECT key FROM pages) FROM links"
    for number, is_shared, packed, places, is_of_page in read(sql):
        packer = shared if is_shared else plain
        try:
            links = [StoredLink("", False)] if packer is None else packer.unpack(packed)[0]
            if places is not None:
                unpack_places(places)
        except (zstandard.ZstdError, ValueError, TypeError):
            yield number
        else:
            if not is_of_page or not all(link.url for link in links):
                yield number


def _queue_lost(repairer: Repairer, finding: Finding) -> None:
    queue = repairer.queue
    for key, url in finding.ids:
        repairer.database.write("DELETE FROM known WHERE key = ?", (key,))
        if url and repairer.directory.plan is not None:
            queue.push_url(url, key, 0)


def _count_again(repairer: Repairer, finding: Finding) -> None:
    repairer.database.write("DELETE FROM host_blocks")
    repairer.database.set_meta(meta_names.COUNTED_PAGE, "0")


URL_RULES = Rule(
    "url-keys-known",
    "the URL rules of the keys are unknown",
    advice="verify it with the version that made it",
)
META = Rule(
    "meta-right",
    "impossible values of the crawl itself",
    writing("derives them from the pages", "INSERT OR REPLACE INTO meta VALUES (?, ?)"),
)
KEYS = Rule(
    "keys-right",
    "captures with another key, or canonical URL, than their URL has",
    writing(
        "computes them from their URLs", "UPDATE pages SET canonical_url = ?, key = ? WHERE id = ?"
    ),
)
REDIRECTS = Rule(
    "redirect-keys-right",
    "redirects with another key than their URL has",
    writing("forgets them", "DELETE FROM redirects WHERE key = ?"),
)
LOST = Rule(
    "known-has-page",
    "pages that were fetched and have no capture",
    Mend("queues their URLs again, where those are known, and forgets the others", _queue_lost),
)
UNKNOWN = Rule(
    "page-is-known",
    "pages without a time at which they are due",
    writing("makes them due now", _DUE_NOW),
)
LINKS = Rule(
    "links-readable",
    "lists of links that cannot be read",
    writing("deletes them: those pages are asked for as a whole", "DELETE FROM links WHERE id = ?"),
)
COUNTS = Rule(
    "boilerplate-counted",
    "counts of boilerplate of hosts without a page, or that cannot be read",
    Mend("forgets all counts, which are made again when the crawl is opened", _count_again),
)
