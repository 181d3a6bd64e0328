"""Report a crawl: counts, clusters of duplicates, seconds by stage, savings."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.maintenance.broken_links import BrokenLink, broken_links
from crawler.maintenance.tally import Changes, find_changes, make_tally, scalar
from crawler.pages.boilerplate import RepeatedText, repeated_texts
from crawler.pages.needless_cookies import needless_hosts
from crawler.pages.reasons import Reason, codes, detail_of, in_words
from crawler.pages.verdicts import (
    EXACT_DUPLICATE,
    FAILED,
    NOT_HTML,
    SAME_TEMPLATE,
    WALLS,
    WITHOUT_PAGE,
    listed,
)
from crawler.storage import meta_names
from crawler.storage.states import HOLDS, SKIPPED
from crawler.url_rules.file_links import read_aside
from crawler.url_rules.rule_report import UNEXAMINED, StoredCluster, trap_report
from crawler.url_rules.rule_store import rule_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_SKIPPED = f"SELECT count(*) FROM requests WHERE state = {SKIPPED} AND rule > 0"

LARGEST = 10
"""Name at most this many clusters, and this many URLs of each, in a report."""

LARGEST_HOSTS = 3
"""Name at most this many hosts with what they repeat."""

_LARGEST = """
SELECT duplicate_of, NULL, count(*) FROM pages WHERE latest = 1 AND duplicate_of IS NOT NULL
GROUP BY duplicate_of
UNION ALL
SELECT NULL, elsewhere.key, count(*) FROM elsewhere JOIN pages ON pages.id = page WHERE latest = 1
GROUP BY elsewhere.key
ORDER BY 3 DESC, 1, 2 LIMIT ?
"""
_HERE = "SELECT url FROM pages WHERE id = ?"
_THERE = "SELECT url FROM elsewhere WHERE key = ?"
_WALLS = f"""
SELECT verdict, reason, count(*), url, min(id) FROM pages
WHERE latest = 1 AND verdict IN ({listed(WALLS)}) GROUP BY verdict, reason
ORDER BY 3 DESC, 1, 2 LIMIT ?
"""
_MEMBERS = "SELECT url FROM pages WHERE latest = 1 AND duplicate_of = ? ORDER BY id LIMIT ?"
_MEMBERS_OF_THERE = """
SELECT pages.url FROM elsewhere JOIN pages ON pages.id = page
WHERE latest = 1 AND elsewhere.key = ? ORDER BY id LIMIT ?
"""

_RESEMBLING = f"""
SELECT pages.url, other.url, pages.reason, pages.similarity FROM pages
LEFT JOIN pages AS other ON other.id = pages.resembles
WHERE pages.latest = 1 AND pages.verdict = '{SAME_TEMPLATE}'
ORDER BY pages.similarity DESC, pages.id LIMIT ?
"""

# A page on the template of a larger one is told as one that resembles another.
_IS_PART = "pages.latest = 1 AND pages.part_of IS NOT NULL AND pages.resembles IS NULL"
_DOCUMENTS = """
SELECT content_source, count(*) FROM pages WHERE latest = 1 AND page_type = 'document'
GROUP BY 1 ORDER BY 2 DESC, 1
"""
_REASONS = """
SELECT CAST(reason AS BLOB), count(*) FROM pages
WHERE latest = 1 AND reason IS NOT NULL GROUP BY reason
"""
_COUNT_PARTS = f"SELECT count(*) FROM pages WHERE {_IS_PART}"
_PARTS = f"""
SELECT pages.url, whole.url, pages.containment FROM pages
JOIN pages AS whole ON whole.id = pages.part_of
WHERE {_IS_PART} ORDER BY pages.containment DESC, pages.id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class PageCluster:
    """A kept page and the URLs that repeat it."""

    kept: str
    size: int
    duplicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundWall:
    """URLs that answer with a soft 404 or a wall, for one reason.

    Attributes:
        verdict: The verdict on them.
        reason: Why, in words.
        count: How many there are.
        example: The first of them.
    """

    verdict: str
    reason: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class ResemblingPage:
    """A kept page, and the kept page of another name that it resembles."""

    url: str
    resembles: str
    similarity: float | None


@dataclass(frozen=True, slots=True)
class PartPage:
    """A kept page that is a part of another one, and the share of it that stands there."""

    url: str
    part_of: str
    containment: float


@dataclass(frozen=True, slots=True)
class RestedHost:
    """A host that refused or did not answer in the last visit, with its pauses."""

    name: str
    pauses: int
    secs: float
    reason: str
    left_secs: float
    """Seconds until its last pause is over, 0 after that."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report of ``crawl-once report``.

    All counts are those of the last visit, except ``kept``, ``duplicates``, ``clusters``,
    ``resembling`` and ``walls``, which are those of the directory as it is now.
    """

    visit: int
    fetched: int
    kept: int
    queued: int
    failed: int | None
    """None of a spider of another project, whose failures are not seen."""
    duplicates: int
    verdicts: dict[str, int]
    reasons: dict[str, int]
    missing: dict[str, int]
    """URLs that gave no page, counted by the reason; a part of ``reasons``."""
    broken: tuple[BrokenLink, ...]
    """Links that lead to no page, at most 20, each with the page on which it was met first."""
    clusters: tuple[PageCluster, ...]
    walls: tuple[FoundWall, ...]
    """URLs that answered with something else than a page."""
    resembling: tuple[ResemblingPage, ...]
    """Pages that are most similar to one of another name."""
    parts: int
    """Number of kept pages that are parts of another page, and resemble none."""
    part_examples: tuple[PartPage, ...]
    """The parts with the largest containment."""
    boilerplate: tuple[RepeatedText, ...]
    """The repeated text of the largest hosts."""
    better_copies: int
    stage_secs: dict[str, float]
    comparisons: dict[str, int]
    saved_bytes: int
    saved_extractions: int
    fetched_bytes: int
    changes: Changes | None
    """Changes since the visit before, or None in the first visit."""
    url_rules: int
    """Number of learned URL rules that hold."""
    unexamined_rules: int
    """Number of learned URL rules whose skipped URLs were tested too little."""
    skipped: int
    """Number of requests that learned URL rules made superfluous."""
    file_links: dict[str, int]
    """Links not requested because many of their kind were files, by their ending."""
    file_links_to_ask: dict[str, int]
    """Links set aside until the crawl goes on, by their ending."""
    guesses_aside: dict[str, int]
    """Links not requested because too few of their kind led to a new page, by that kind."""
    documents: dict[str, int]
    """Documents that were judged, by their kind."""
    unread_documents: int
    """Number of documents that need the extra ``documents``."""
    app_shells: int
    """Number of pages that show nothing until their scripts fill them."""
    browser: str
    """Path of the browser that could show pages, or what is said of it; empty where none could."""
    browser_requests: int
    """Number of requests that pages made in the browser, in all visits."""
    rendered: int
    """Number of pages that are judged by what a browser shows."""
    shown_in_part: int
    """Number of pages that a browser could not show, or not whole."""
    traps: tuple[StoredCluster, ...]
    """Kinds of URLs whose pages stopped being new."""
    no_robots: dict[str, list[str]]
    """First hosts with an answer for robots.txt that forbids nothing, by that answer."""
    without_cookies: list[str]
    """Hosts that get no cookies, since their pages need none."""
    refused_links: dict[str, int]
    """Links that were not followed, counted at each occurrence, by the reason."""
    rested: tuple[RestedHost, ...]
    """Hosts with pauses: those that still rest first, then the longest ones."""


def make_report(connection: sqlite3.Connection) -> Report:
    """Read a report from a crawl's database, as it is at one moment.

    Complexity: O(pages).
    """
    connection.execute("BEGIN")
    try:
        return _read(connection)
    finally:
        connection.execute("ROLLBACK")


def _read(connection: sqlite3.Connection) -> Report:
    meta: dict[str, str] = dict(connection.execute("SELECT name, value FROM meta"))
    visit = int(meta.get(meta_names.VISIT, 0))
    changes = find_changes(connection, visit) if visit > 1 else None
    tally = make_tally(connection, visit)
    counts = tally.verdicts
    reasons = _count_reasons(connection, visit)
    coded = [
        (codes(stored.decode("utf-8", "replace")), count)  # one that is damaged ends no report
        for stored, count in connection.execute(_REASONS)
    ]
    aside = read_aside(connection.execute)
    fetched = sum(counts.values()) - counts[FAILED]
    return Report(
        visit=visit,
        fetched=fetched,
        kept=tally.kept,
        queued=tally.queued,
        failed=tally.failed,
        duplicates=tally.duplicates,
        verdicts=counts,
        reasons=_summed((f"{verdict}: {reason}", count) for verdict, reason, count in reasons),
        missing=_summed(
            (reason if verdict == FAILED else f"{verdict}: {reason}", count)
            for verdict, reason, count in reasons
            if verdict in WITHOUT_PAGE
        ),
        broken=broken_links(connection),
        clusters=_clusters(connection),
        walls=_walls(connection),
        resembling=_resembling(connection),
        parts=scalar(connection, _COUNT_PARTS),
        part_examples=tuple(
            PartPage(*row) for row in connection.execute(_PARTS, (LARGEST,)).fetchall()
        ),
        boilerplate=tuple(repeated_texts(connection.execute, LARGEST_HOSTS)),
        better_copies=scalar(
            connection, "SELECT count(*) FROM pages WHERE latest = 1 AND better_copy = 1"
        ),
        stage_secs={
            name: round(secs, 3)
            for name, secs in json.loads(meta.get(meta_names.STAGES, "{}")).items()
        },
        comparisons=json.loads(meta.get(meta_names.COMPARISONS, "{}")),
        saved_bytes=tally.saved_bytes,
        saved_extractions=counts[EXACT_DUPLICATE],
        fetched_bytes=tally.fetched_bytes,
        changes=changes,
        url_rules=sum(row.state == HOLDS for row in rule_rows(connection.execute)),
        unexamined_rules=scalar(connection, UNEXAMINED),
        skipped=scalar(connection, _SKIPPED),
        documents=dict(connection.execute(_DOCUMENTS).fetchall()),
        unread_documents=_having(coded, Reason.LIBRARY_MISSING),
        app_shells=_having(coded, Reason.APP_SHELL),
        browser=meta.get(meta_names.BROWSER, ""),
        browser_requests=int(
            json.loads(meta.get(meta_names.ANSWERS, "{}")).get(meta_names.BROWSER_REQUESTS, 0)
        ),
        rendered=_having(coded, Reason.RENDERED),
        shown_in_part=_having(coded, Reason.RENDERED_IN_PART, Reason.NOT_RENDERED),
        file_links=aside.files,
        file_links_to_ask=aside.to_ask,
        guesses_aside=aside.guesses,
        traps=trap_report(connection),
        no_robots=json.loads(meta.get(meta_names.NO_ROBOTS, "{}")),
        without_cookies=needless_hosts(meta.get(meta_names.HOST_COOKIES)),
        refused_links=json.loads(meta.get(meta_names.REFUSED_LINKS, "{}")),
        rested=_rested_hosts(connection),
    )


def _having(coded: Iterable[tuple[set[Reason], int]], *reasons: Reason) -> int:
    """Return the number of pages with any of some reasons."""
    return sum(count for found, count in coded if not found.isdisjoint(reasons))


def _resembling(connection: sqlite3.Connection) -> tuple[ResemblingPage, ...]:
    return tuple(
        ResemblingPage(url, other or detail_of(reason, Reason.RESEMBLES) or "?", similarity)
        for url, other, reason, similarity in connection.execute(_RESEMBLING, (LARGEST,))
    )


def _rested_hosts(connection: sqlite3.Connection) -> tuple[RestedHost, ...]:
    now = time.time()
    rows = connection.execute(
        "SELECT name, pauses, total_secs, reason, max(0, until - ?) FROM host_pauses"
        " ORDER BY 5 DESC, 3 DESC LIMIT ?",
        (now, LARGEST),
    )
    return tuple(
        RestedHost(name, pauses, round(secs, 1), reason, round(left_secs, 1))
        for name, pauses, secs, reason, left_secs in rows
    )


def _count_reasons(connection: sqlite3.Connection, visit: int) -> list[tuple[str, str, int]]:
    """Return verdicts and reasons, in words, with their numbers of pages, the most first."""
    rows = connection.execute(
        "SELECT verdict, reason, count(*) FROM pages WHERE visit = ?"
        f" AND (verdict IN ({listed(WITHOUT_PAGE | {NOT_HTML})})"
        "      OR instr(char(10) || reason, char(10) || ?))"
        " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?",
        (visit, Reason.NOT_COMPARED, LARGEST),
    )
    return [(verdict, in_words(reason) or "?", count) for verdict, reason, count in rows]


def _walls(connection: sqlite3.Connection) -> tuple[FoundWall, ...]:
    rows = connection.execute(_WALLS, (LARGEST,))
    return tuple(
        FoundWall(verdict, in_words(reason) or "?", count, url)
        for verdict, reason, count, url, _ in rows
    )


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sums by name: two codes may have the same words."""
    summed: Counter[str] = Counter()
    for name, count in counts:
        summed[name] += count
    return dict(summed.most_common())


def _clusters(connection: sqlite3.Connection) -> tuple[PageCluster, ...]:
    largest = connection.execute(_LARGEST, (LARGEST,)).fetchall()
    return tuple(_cluster(connection, kept, key, count) for kept, key, count in largest)


def _cluster(
    connection: sqlite3.Connection, kept: int | None, key: bytes | None, count: int
) -> PageCluster:
    """Return a cluster by the id of its kept page, or by its key if another crawl has it."""
    originals, members = (_HERE, _MEMBERS) if key is None else (_THERE, _MEMBERS_OF_THERE)
    named = kept if key is None else key
    url = connection.execute(originals, (named,)).fetchone()
    rows = connection.execute(members, (named, LARGEST))
    return PageCluster(url[0], count + 1, tuple(row[0] for row in rows))
