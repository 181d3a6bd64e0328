"""Find the URLs that gave no page, and the pages that led to them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.pages.export import stored_redirects, stored_urls
from crawler.pages.page_links import LinkGraph, PageLink
from crawler.pages.page_row import linked_from
from crawler.pages.reasons import Reason, codes, in_words
from crawler.pages.url_history import failed_urls
from crawler.reading.link_extraction import is_place
from crawler.reading.link_kinds import PAGES
from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.url_rules.variants import separate_keys
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator

    from crawler.storage.database import Database

LARGEST = 20
"""Examples that a report holds at most."""

# What was not sent again names what it named before.
_READ_AT = "SELECT iif(not_sent, since - 1, visit) FROM known WHERE key = ?"
_MAX_HOPS = 100
"""Follow a chain of redirects no farther, since a site can make endless ones."""

_DEAD = "SELECT url, reason, date(asked_at, 'unixepoch') FROM external_links WHERE reason != ''"
_FRESH_SECS = 86_400

NO_URL = "no URL"
"""The reason of a link whose target is none."""

_NOT_BROKEN = frozenset({Reason.FORBIDDEN, Reason.REDIRECTED_OUT})
"""Reasons for which the crawl does not look where a link leads."""


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A URL that gave no page at its last visit.

    Attributes:
        url: The URL.
        status: HTTP status of the answer; None where none came.
        reason: Why there is no page.
        linked_from: The URL of the page, style or sitemap that named it first; None of a seed.
        is_current: Whether that names it still: it was not asked for again at a later visit.
        text: What the link shows there; empty where that is not known.
    """

    url: str
    status: int | None
    reason: str
    linked_from: str | None
    is_current: bool
    text: str = ""

    @property
    def named_by(self) -> str | None:
        """The URL that names it for certain; None where that is not known."""
        return self.linked_from if self.is_current else None


def broken_links(connection: sqlite3.Connection) -> tuple[BrokenLink, ...]:
    """Return links that lead to no page, those with an HTTP status first.

    What robots.txt forbids, or what leads out of the scope, may well be there.

    Complexity: O(failed URLs, and the links of the pages that led to them).
    """
    found = (link for link in failed_pages(connection).values() if link.linked_from is not None)
    chosen = nsmallest(LARGEST, found, key=lambda link: (link.status is None, link.status))
    texts = _texts(connection, chosen)
    return tuple(replace(link, text=texts.get((link.url, link.linked_from), "")) for link in chosen)


def _texts(
    connection: sqlite3.Connection, links: Iterable[BrokenLink]
) -> dict[tuple[str, str | None], str]:
    """Return what pages show as their links, by the URL that is linked and that of the page."""
    canonicalizer = stored_canonicalizer(connection)
    if canonicalizer is None:
        return {}
    of_source: dict[str, list[str]] = {}
    for link in links:
        of_source.setdefault(link.linked_from or "", []).append(link.url)
    graph = LinkGraph(connection)
    found: dict[tuple[str, str | None], str] = {}
    for source, urls in of_source.items():
        wanted = {canonicalizer.key_of(url): url for url in urls}
        for there in graph.links_of(canonicalizer.key_of(source)):
            broken = wanted.get(canonicalizer.key_of(there.url)) if there.text else None
            if broken is not None:
                found.setdefault((broken, source), there.text)
    return found


def stored_canonicalizer(connection: sqlite3.Connection) -> Canonicalizer | None:
    """Return what makes the keys of URLs in a crawl, or None if this version does not know it."""
    version = meta_of(connection.execute, meta_names.URL_RULES) or ""
    found = Canonicalizer.of_version(version)
    if found is not None:
        found.separate(separate_keys(connection.execute))
    return found


def failed_pages(connection: sqlite3.Connection) -> dict[bytes, BrokenLink]:
    """Return what gave no page at its last visit, by its key.

    Complexity: O(failed URLs).
    """
    canonicalizer = stored_canonicalizer(connection)
    last = int(meta_of(connection.execute, meta_names.VISIT) or 0)
    found = {}
    for key, url, status, reason, since, metadata in failed_urls(connection.execute):
        if codes(reason) & _NOT_BROKEN:
            continue
        source, asked_at = linked_from(metadata), last
        if source is not None and canonicalizer is not None:
            row = connection.execute(_READ_AT, (canonicalizer.key_of(source),)).fetchone()
            asked_at = last if row is None else row[0]
        said = in_words(reason) or "no page"
        found[key] = BrokenLink(url, status, said, source, is_current=asked_at <= since)
    return found


def lost_fragments(
    graph: LinkGraph,
    canonicalizer: Canonicalizer,
    failed: Collection[bytes],
    redirects: RedirectChains,
) -> Iterator[PageLink]:
    """Yield the links to places within pages that are not there.

    Complexity: O(links to places, and the places of the pages that they lead to); memory for the
    links to places alone.
    """

    def linked() -> Iterator[tuple[str, str, bytes, list[str]]]:
        for page in graph.lists(with_places=True):
            for target, fragments in page.places[1].items() if page.places else ():
                key = canonicalizer.key_of(target)
                end = redirects.ends.get(key, key)
                if end not in failed and key not in redirects.to_places:
                    yield page.url, target, end, fragments

    lost: dict[bytes, set[str]] = {}
    for _, _, end, fragments in linked():
        lost.setdefault(end, set()).update(fragments)
    for end, wanted in lost.items():
        names = graph.places_of(end)
        found = wanted if names is None else {name for name in wanted if is_place(name, names)}
        wanted.difference_update(found)
    for source, target, end, fragments in linked():
        for fragment in fragments:
            if fragment in lost[end]:
                yield PageLink(source, f"{target}#{fragment}", "", "", follow=True)


def dead_links(connection: sqlite3.Connection) -> dict[str, str]:
    """Return why and when links to other sites were dead, by their URLs.

    Those to hosts of which the crawl has pages since are left out: it knows better.
    """
    rows = connection.execute(_DEAD).fetchall()
    own = _own_hosts(connection) if rows else set()
    return {url: f"{reason} on {day}" for url, reason, day in rows if _host(url) not in own}


def unasked_links(connection: sqlite3.Connection) -> dict[str, str]:
    """Return links to hosts without a kept page that were not asked today, with a page each.

    Those never asked come first, then those asked longest ago.
    """
    own = _own_hosts(connection)
    asked = dict(connection.execute("SELECT url, asked_at FROM external_links"))
    latest = time.time() - _FRESH_SECS
    found = {
        link.target: link.source
        for link in LinkGraph(connection)
        if link.kind in PAGES
        and asked.get(link.target, 0) <= latest
        and _host(link.target) not in own
    }
    return dict(sorted(found.items(), key=lambda item: asked.get(item[0], 0)))


def note_answer(database: Database, url: str, why: str) -> None:
    """Store that a link to another site was asked now, and why it is dead; nothing: it is not."""
    row = (url, time.time(), why)
    database.write("INSERT OR REPLACE INTO external_links VALUES (?, ?, ?)", row)
    database.commit()


def _own_hosts(connection: sqlite3.Connection) -> set[str]:
    """Return the hosts of kept pages, and what stands for the host of no URL."""
    # A mirror may have pictures and styles alone of another host.
    return {"", *map(_host, stored_urls(connection, kept_only=True))}


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def link_rows(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Yield each link with ``broken``, why its target is no page; empty where nothing is known.

    What only a sitemap or a style names, the pictures, styles and scripts of a page, and places
    within pages come last, where they are missing: without a kind, as those links are not stored.

    Complexity: O(links), and memory for the failed URLs and the redirects.
    """
    failed, redirects = failed_pages(connection), RedirectChains(connection)
    canonicalizer = stored_canonicalizer(connection)
    met, dead = set[bytes](), dead_links(connection)
    graph = LinkGraph(connection)
    for link in graph:
        key = b"" if canonicalizer is None else canonicalizer.key_of(link.target)
        lost = failed.get(redirects.ends.get(key, key))
        met.add(key if lost is not None else b"")
        why = dead.get(link.target, "" if link.kind else NO_URL) if lost is None else lost.reason
        yield {**link._asdict(), "broken": why}
    for key, lost in failed.items():
        if key not in met and lost.named_by is not None:
            link = PageLink(lost.named_by, lost.url, "", "", follow=True)
            yield {**link._asdict(), "broken": lost.reason}
    if canonicalizer is not None:
        for link in lost_fragments(graph, canonicalizer, failed, redirects):
            yield {**link._asdict(), "broken": "no place of that name"}


class RedirectChains:
    """The redirects of the last visit, and where each chain of them ends.

    Attributes:
        urls: URL of each that redirects, by its key.
        hops: URLs that each passes, by its key; the last one is where it ends.
        ends: Key of the end, by the key of what redirects; none where it leads in a circle.
        to_places: Keys of those that lead to a place, which browsers show whatever the link says.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.to_places: set[bytes] = set()
        self.urls: dict[bytes, str] = {}
        self.hops: dict[bytes, list[str]] = {}
        self.ends: dict[bytes, bytes] = {}
        targets: dict[bytes, tuple[bytes, str]] = {}
        placed = set[bytes]()
        for key, url, target, target_url, fragment, _ in stored_redirects(connection):
            self.urls[key] = url
            if fragment:
                placed.add(key)
            targets[key] = (target, target_url)
        for key in targets:
            hops, end, passed = list[str](), key, set[bytes]()
            while end in targets and end not in passed and len(hops) < _MAX_HOPS:
                passed.add(end)
                end, url = targets[end]
                # Of what redirects further the redirect has the URL.
                hops.append(self.urls.get(end) or url)
            self.hops[key] = hops
            if end not in passed:
                self.ends[key] = end
            if passed & placed:
                self.to_places.add(key)
