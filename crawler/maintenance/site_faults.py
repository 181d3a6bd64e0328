"""Find what a site's owner would mend: broken links, redirects, lost and repeated pages.

Everything is read of what a crawl has stored; nothing is fetched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.maintenance.broken_links import (
    NO_URL,
    BrokenLink,
    RedirectChains,
    dead_links,
    failed_pages,
    lost_fragments,
    stored_canonicalizer,
)
from crawler.maintenance.fault import FAULTS, Fault, FaultExample, FaultExamples, FaultPage, Inlinks
from crawler.maintenance.tally import count_queued
from crawler.pages.page_links import LinkGraph
from crawler.pages.page_row import alternates_of
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import (
    CONTAINED,
    EXACT_DUPLICATE,
    IS_AWAY,
    KEPT,
    NEAR_DUPLICATE,
    OF_TEXTS,
    TEXT_DUPLICATE,
    WITHOUT_PAGE,
    listed,
)
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from crawler.pages.page_links import PageLink
    from crawler.urls.canonical import Canonicalizer

MAX_PAGES = 10
"""Name at most this many pages that link to a URL, share a title, or repeat a page."""

_BATCH = 1_000

# A file that repeats another one is an exact duplicate too, and has no words.
_IS_PAGE = f"""
latest = 1 AND verdict IN ({listed(OF_TEXTS)}) AND words IS NOT NULL AND NOT {IS_AWAY}
"""
_LINKABLE = f"""
SELECT id, key, url, title FROM pages WHERE id > ? AND depth > 0 AND {_IS_PAGE} ORDER BY id LIMIT ?
"""
_IS_WRITTEN = f"""
latest = 1 AND verdict IN ({listed(KEPT)}) AND (content_type IS NULL OR content_type LIKE '%html%')
AND NOT {IS_AWAY}
"""
_TITLE = """CASE coalesce(json_extract(metadata, '$.sources.full_title'),
                      json_extract(metadata, '$.sources.title'), 'title')
WHEN 'title' THEN coalesce(json_extract(metadata, '$.full_title'), title) END"""
_ANY_TITLE = f"SELECT 1 FROM pages WHERE {_IS_WRITTEN} AND title IS NOT NULL LIMIT 1"
_ASKED = {"fragments": "links WHERE places IS NOT NULL", "external_links": "external_links"}
_DESCRIPTION = "json_extract(metadata, '$.description')"
_MISSING = f"SELECT url FROM pages WHERE {_IS_WRITTEN} AND {{0}} IS NULL ORDER BY id"
_REPEATED = f"""
SELECT said, NULL, times, url FROM (
  SELECT {{0}} AS said, url, count(*) OVER same AS times,
         row_number() OVER (same ORDER BY id) AS place
  FROM pages WHERE {_IS_WRITTEN} AND {{0}} IS NOT NULL WINDOW same AS (PARTITION BY {{0}})
) WHERE times > 1 AND place <= {MAX_PAGES} ORDER BY times DESC, said, place
"""
_CLUSTERS = f"""
SELECT iif(is_away, first_url, kept.url), iif(is_away, first_title, kept.title), times - is_away,
       said.url, said.title, said.verdict, said.similarity
FROM (
  SELECT url, title, verdict, similarity, duplicate_of, count(*) OVER same AS times,
         row_number() OVER (same ORDER BY id) AS place,
         first_value(url) OVER (same ORDER BY id) AS first_url,
         first_value(title) OVER (same ORDER BY id) AS first_title
  FROM pages WHERE duplicate_of IS NOT NULL AND {_IS_PAGE}
  WINDOW same AS (PARTITION BY duplicate_of)
) AS said
JOIN (SELECT id, url, title, {IS_AWAY} AS is_away FROM pages) AS kept ON kept.id = said.duplicate_of
WHERE place > is_away AND place <= {MAX_PAGES} + is_away ORDER BY times DESC, kept.id, place
"""


_AS_WORDS = {
    EXACT_DUPLICATE: "the same bytes",
    TEXT_DUPLICATE: "the same words",
    NEAR_DUPLICATE: "nearly the same words",
    CONTAINED: "a part of it",
}


class SiteReport(NamedTuple):
    """Faults that a crawl shows of a site, and the pages it saw.

    Attributes:
        pages: Number of URLs that answered with a page, duplicates included.
        queued: Number of URLs that the crawl has still to ask for.
        faults: What there is to mend, the gravest first.
        unknown: Names of faults that cannot be seen, since the crawl did not store what tells.
    """

    pages: int
    queued: int
    faults: tuple[Fault, ...]
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what ``crawl-once links --json`` prints."""
        return {
            "pages": self.pages,
            "queued": self.queued,
            "faults": {
                fault.name: {
                    "count": fault.count,
                    "examples": [asdict(example) for example in fault.examples],
                }
                for fault in self.faults
            },
            "unknown": list(self.unknown),
        }


def find_faults(
    connection: sqlite3.Connection, most: int, show: Callable[[float, str], None]
) -> SiteReport:
    """Find the faults of a crawled site.

    Args:
        connection: Connection from ``open_for_reading``.
        most: Describe at most this many examples of a fault.
        show: Called with the share that is done and the current step.

    Raises:
        JobError: The keys of its URLs were made by another version.

    Complexity: O(links * log pages); some 40 bytes of memory a page, and the redirects.
    """
    canonicalizer = stored_canonicalizer(connection)
    if canonicalizer is None:
        raise JobError("the keys of its URLs were made by another version of crawl-once")
    failed = failed_pages(connection)
    redirects = RedirectChains(connection)
    graph = LinkGraph(connection)
    dead = {canonicalizer.key_of(url): (url, why) for url, why in dead_links(connection).items()}
    dead = {key: said for key, said in dead.items() if key not in failed}
    watched = dict.fromkeys((*redirects.urls, *dead), False) | dict.fromkeys(failed, True)
    inlinks = Inlinks(connection, watched, MAX_PAGES)
    steps, done = max(graph.count(), 1), count(1)
    inlinks.read(graph, canonicalizer, lambda: show(min(next(done) / steps, 1), "reading links"))
    canonicals, translations = _contradictions(connection, canonicalizer, redirects.ends, most)
    ((pages,),) = connection.execute(f"SELECT count(*) FROM pages WHERE {_IS_PAGE}")
    unknown: tuple[str, ...] = (
        () if graph.count() else ("broken_links", "redirected_links", "orphans")
    )
    if unknown and connection.execute(_ANY_TITLE).fetchone() is None:
        unknown += tuple(name for name in FAULTS if name.endswith(("titles", "descriptions")))
    for name, asked in _ASKED.items():
        if connection.execute(f"SELECT 1 FROM {asked} LIMIT 1").fetchone() is None:
            unknown += (name,)
    lost = lost_fragments(graph, canonicalizer, failed, redirects)
    found = (
        _broken(failed, redirects, inlinks, most),
        _fragments(lost, most),
        _external(dead, inlinks, most),
        *_of_redirects(redirects, failed, inlinks, most),
        canonicals,
        translations,
        _orphans(connection, inlinks, most),
        _missing(connection, "missing_titles", _TITLE, most),
        _repeated(connection, "repeated_titles", _REPEATED.format(_TITLE), most),
        _missing(connection, "missing_descriptions", _DESCRIPTION, most),
        _repeated(connection, "repeated_descriptions", _REPEATED.format(_DESCRIPTION), most),
        _repeated(connection, "duplicates", _CLUSTERS, most),
    )
    known = tuple(fault for fault in found if fault.name not in unknown)
    return SiteReport(pages, count_queued(connection), known, unknown)


def _broken(
    failed: dict[bytes, BrokenLink], redirects: RedirectChains, inlinks: Inlinks, most: int
) -> Fault:
    findings = FaultExamples("broken_links", most, largest_first=True)
    by_redirect: dict[bytes, list[bytes]] = {}
    for key, end in redirects.ends.items():
        if end in failed:
            by_redirect.setdefault(end, []).append(key)
    for key, lost in failed.items():
        if key in redirects.urls:
            continue  # a circle
        links, pages = 0, list[FaultPage]()
        for way in (key, *by_redirect.get(key, ())):
            number, examples = inlinks.of(way)
            links += number
            pages += examples
        if not links and lost.named_by is not None:
            links, pages = 1, [FaultPage(lost.named_by)]  # a sitemap, or a picture of the page
        if links:
            findings.add(FaultExample(lost.url, lost.reason, links, tuple(pages[:MAX_PAGES])))
    for written, (number, of_it) in inlinks.malformed.items():
        findings.add(FaultExample(written, NO_URL, number, tuple(of_it)))
    return findings.fault()


def _fragments(lost: Iterable[PageLink], most: int) -> Fault:
    findings = FaultExamples("fragments", most, largest_first=True)
    sources: dict[str, list[FaultPage]] = {}
    for link in lost:
        sources.setdefault(link.target, []).append(FaultPage(link.source))
    for url, pages in sources.items():
        findings.add(FaultExample(url, "", len(pages), tuple(pages[:MAX_PAGES])))
    return findings.fault()


def _external(dead: dict[bytes, tuple[str, str]], inlinks: Inlinks, most: int) -> Fault:
    findings = FaultExamples("external_links", most, largest_first=True)
    for key, (url, why) in dead.items():
        if inlinks.of(key)[0]:
            findings.add(FaultExample(url, why, *inlinks.of(key)))
    return findings.fault()


def _of_redirects(
    redirects: RedirectChains, failed: dict[bytes, BrokenLink], inlinks: Inlinks, most: int
) -> tuple[Fault, Fault, Fault]:
    """Return the circles and the chains of redirects, and the links to what redirects once."""
    circles, chains = (
        FaultExamples("redirect_circles", most),
        FaultExamples("redirect_chains", most),
    )
    linked = FaultExamples("redirected_links", most, largest_first=True)
    for key, url in redirects.urls.items():
        hops, end = redirects.hops[key], redirects.ends.get(key)
        said = "".join(f" -> {hop or 'an unknown URL'}" for hop in hops).lstrip()
        if end is None:
            circles.add(FaultExample(url, f"leads to {hops[0]}", *inlinks.of(key)))
        elif len(hops) > 1:
            chains.add(FaultExample(url, said, *inlinks.of(key)))
        elif end not in failed and inlinks.of(key)[0]:
            linked.add(FaultExample(url, said, *inlinks.of(key)))
    return circles.fault(), chains.fault(), linked.fault()


def _orphans(connection: sqlite3.Connection, inlinks: Inlinks, most: int) -> Fault:
    findings = FaultExamples("orphans", most)
    last = 0
    while rows := connection.execute(_LINKABLE, (last, _BATCH)).fetchall():
        last = rows[-1][0]
        linked = inlinks.are_linked([row[1] for row in rows])
        for (_, _, url, title), is_linked in zip(rows, linked, strict=True):
            if not is_linked:
                findings.add(FaultExample(url, title or ""))
    return findings.fault()


def _missing(connection: sqlite3.Connection, name: str, said: str, most: int) -> Fault:
    findings = FaultExamples(name, most)
    for (url,) in connection.execute(_MISSING.format(said)):
        findings.add(FaultExample(url))
    return findings.fault()


def _repeated(connection: sqlite3.Connection, name: str, sql: str, most: int) -> Fault:
    """Return groups of pages: rows of what they share, a title, their number and a page."""
    findings = FaultExamples(name, most)
    rows = connection.execute(sql)
    for (shared, title, times), group in groupby(rows, key=lambda row: (row[0], row[1], row[2])):
        pages = tuple(FaultPage(url, *_likeness(*said)) for _, _, _, url, *said in group)
        if name == "duplicates":
            findings.add(FaultExample(shared, title or "", times, pages))
        else:
            findings.add(FaultExample(pages[0].url, shared, times, pages))
    return findings.fault()


def _likeness(title: str = "", verdict: str = "", similarity: float | None = None) -> Iterator[str]:
    """Yield how a page repeats another one, with its title; nothing of what is no duplicate."""
    if verdict:
        measured = f", similarity {similarity:.2f}" if similarity and similarity < 1 else ""
        yield f"{_AS_WORDS[verdict]}{measured}{f': {title}' if title else ''}"


_PAGES_AT_ONCE = 200
_PAGES = f"""
SELECT id, key, url, declared_url, metadata, duplicate_of, resembles FROM pages
WHERE id > ? AND {_IS_PAGE}
AND (declared_url IS NOT NULL OR instr(metadata, '"alternates":')) ORDER BY id LIMIT ?
"""
_NAMED = f"""
SELECT id, pages.key, url, declared_url, metadata, duplicate_of, resembles, verdict,
       verdict IN ({listed(WITHOUT_PAGE)}) OR {IS_AWAY} AS is_away,
       coalesce((SELECT reason FROM known WHERE known.key = pages.key), reason) AS why
FROM pages WHERE pages.key = ? AND latest = 1
"""


class _Page(NamedTuple):
    id: int
    key: bytes
    url: str
    declared_url: str | None
    metadata: str | None
    duplicate_of: int | None
    resembles: int | None

    @property
    def kept(self) -> int:
        """Id of the kept page that has its text."""
        return self.duplicate_of or self.id


def _contradictions(
    connection: sqlite3.Connection,
    canonicalizer: Canonicalizer,
    redirects: Mapping[bytes, bytes],
    most: int,
) -> tuple[Fault, Fault]:
    """Return the canonical URLs and the translations that contradict.

    What the crawl does not know is not looked at: a URL of another site may be right.

    Args:
        connection: Connection from ``open_for_reading``.
        canonicalizer: Makes the keys of URLs, as in the crawl.
        redirects: Key of where each URL that redirects leads in the end.
        most: Describe at most this many examples.

    Complexity: O(pages and the URLs that they name).
    """
    canonicals, translations = (
        FaultExamples("canonicals", most),
        FaultExamples("translations", most),
    )
    known = _Known(connection, canonicalizer, redirects)
    last = 0
    while rows := connection.execute(_PAGES, (last, _PAGES_AT_ONCE)).fetchall():
        last = rows[-1][0]
        for row in rows:
            page = _Page(*row)
            if (said := known.against_canonical(page)) is not None:
                canonicals.add(FaultExample(page.url, said))
            for said in known.against_translations(page):
                translations.add(FaultExample(page.url, said))
    return canonicals.fault(), translations.fault()


class _Known:
    """Compares what pages name with what the crawl found there."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        canonicalizer: Canonicalizer,
        redirects: Mapping[bytes, bytes],
    ) -> None:
        self._connection = connection
        self._canonicalizer = canonicalizer
        self._redirects = redirects

    def against_canonical(self, page: _Page) -> str | None:
        """Return what is wrong with the canonical URL of a page; None: nothing that is known."""
        declared = page.declared_url
        key = self._canonicalizer.key_of(declared)
        if not key or key == page.key:
            return None
        if (wrong := self._is_no_page(key)) is not None:
            return f"names {declared}, which {wrong}"
        named = self._page(key)
        if named is None:
            return None
        further = self._canonicalizer.key_of(named.declared_url)
        if further not in {b"", named.key}:
            return f"names {declared}, which names {named.declared_url}"
        if named.kept not in {page.kept, page.resembles} and page.kept != named.resembles:
            return f"names {declared}, whose text is another one"
        return None

    def against_translations(self, page: _Page) -> Iterator[str]:
        """Yield what is wrong with each translation of a page."""
        alternates = alternates_of(page.metadata)
        languages = Counter(
            language
            for language, _ in {
                (one.lower(), self._canonicalizer.key_of(url)) for one, url in alternates
            }
        )
        for language, times in languages.items():
            if times > 1:
                yield f"names {times} URLs for {language}"
        for language, url in alternates:
            key = self._canonicalizer.key_of(url)
            if not key or key == page.key:
                continue
            if (wrong := self._is_no_page(key)) is not None:
                yield f"names {url} for {language}, which {wrong}"
            elif (named := self._page(key)) is not None:
                back = {self._canonicalizer.key_of(one) for _, one in alternates_of(named.metadata)}
                if page.key not in back:
                    yield f"names {url} for {language}, which does not name it back"

    def _is_no_page(self, key: bytes) -> str | None:
        """Return why a URL is no page, None where it is one or is not known."""
        if key in self._redirects:
            end = self._connection.execute(_NAMED, (self._redirects[key],)).fetchone()
            return "redirects" if end is None else f"redirects to {end['url']}"
        row = self._connection.execute(_NAMED, (key,)).fetchone()
        if row is None or not row["is_away"]:
            return None
        return f"is no page ({in_words(row['why']) or 'no answer'})"

    def _page(self, key: bytes) -> _Page | None:
        row = self._connection.execute(_NAMED, (key,)).fetchone()
        return None if row is None or row["verdict"] not in OF_TEXTS else _Page(*row[:7])
