"""Find the URLs that gave no page, and the pages that led to them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawler.pages.page_links import LinkGraph
from crawler.pages.page_row import linked_from
from crawler.pages.reasons import Reason, codes, in_words
from crawler.pages.verdicts import FAILED, GONE
from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.url_rules.variants import separate_keys
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

LARGEST = 20
"""Examples that a report holds at most."""

_BROKEN = """
SELECT url, status, reason, metadata FROM pages
WHERE visit = ? AND verdict = ? AND latest = 1 AND metadata IS NOT NULL
ORDER BY status IS NULL, status, id
"""

_FAILED = f"""
SELECT pages.key, url, coalesce(known.reason, pages.reason) FROM pages
LEFT JOIN known ON known.key = pages.key
WHERE latest = 1 AND (verdict = '{FAILED}' OR outcome IN ('{GONE}', '{FAILED}'))
ORDER BY pages.id
"""

_NOT_BROKEN = frozenset({Reason.FORBIDDEN, Reason.REDIRECTED_OUT})
"""Reasons for which the crawl does not look where a link leads."""


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link that leads to no page.

    Attributes:
        url: Where it leads.
        status: HTTP status of the answer; None where none came.
        reason: Why there is no page.
        linked_from: The URL of the page on which the link was met first.
        text: What the link shows there; empty where that is not known.
    """

    url: str
    status: int | None
    reason: str | None
    linked_from: str
    text: str = ""


def broken_links(
    connection: sqlite3.Connection, visit: int, most: int = LARGEST
) -> tuple[BrokenLink, ...]:
    """Return links of a visit that lead to no page, those with an HTTP status first.

    What robots.txt forbids, or what leads out of the scope, may well be there.

    Args:
        connection: The crawl's database.
        visit: The visit.
        most: The largest number of links.

    Complexity: O(failed URLs of the visit, and the links of the pages that led to them).
    """
    # A read that lasts keeps SQLite from shortening its log.
    rows = connection.execute(_BROKEN, (visit, FAILED)).fetchall()
    found = (
        (row["url"], row["status"], in_words(row["reason"]), source)
        for row in rows
        if not codes(row["reason"]) & _NOT_BROKEN
        and (source := linked_from(row["metadata"])) is not None
    )
    chosen = list(islice(found, most))
    texts = _texts(connection, ((link[0], link[3]) for link in chosen))
    return tuple(BrokenLink(*link, texts.get((link[0], link[3]), "")) for link in chosen)


def _texts(
    connection: sqlite3.Connection, links: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Return what pages show as their links, by the URL that is linked and that of the page."""
    canonicalizer = stored_canonicalizer(connection)
    if canonicalizer is None:
        return {}
    of_source: dict[str, list[str]] = {}
    for url, source in links:
        of_source.setdefault(source, []).append(url)
    graph = LinkGraph(connection)
    found: dict[tuple[str, str], str] = {}
    for source, urls in of_source.items():
        wanted = {_key(canonicalizer, url): url for url in urls}
        for link in graph.links_of(_key(canonicalizer, source)):
            broken = wanted.get(_key(canonicalizer, link.url)) if link.text else None
            if broken is not None:
                found.setdefault((broken, source), link.text)
    return found


def _key(canonicalizer: Canonicalizer, url: str) -> bytes:
    """Return the key of a URL, nothing where it is none."""
    try:
        return canonicalizer.key(url)
    except MalformedUrl:
        return b""


def stored_canonicalizer(connection: sqlite3.Connection) -> Canonicalizer | None:
    """Return what makes the keys of URLs in a crawl, or None if this version does not know it."""
    version = meta_of(connection.execute, meta_names.URL_RULES) or ""
    found = Canonicalizer.of_version(version)
    if found is not None:
        found.separate(separate_keys(connection.execute))
    return found


def failed_pages(connection: sqlite3.Connection) -> dict[bytes, tuple[str, str]]:
    """Return URL and reason of what gave no page at its last visit, by its key.

    Complexity: O(failed URLs).
    """
    return {
        key: (url, in_words(reason) or "no page")
        for key, url, reason in connection.execute(_FAILED)
        if not codes(reason) & _NOT_BROKEN
    }
