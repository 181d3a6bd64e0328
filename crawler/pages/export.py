"""Choose rows of the page store, and export them in a readable form.

They are chosen by their URL, host, time, status and type, in SQL over the table ``pages``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.pages.items import comments_of, page_of, text_of
from crawler.pages.page_row import url_of
from crawler.pages.verdicts import (
    AWAY,
    AWAY_OUTCOME,
    DUPLICATES,
    EXACT_DUPLICATE,
    OF_TEXTS,
    TEXT_DUPLICATE,
    listed,
)
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import split
from neardup.languages import declared_or_told, is_of_language

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence


_SCHEMES = ("http", "https")

_canonicalize = Canonicalizer()


class Condition(NamedTuple):
    """A condition on the columns of ``pages``, with the values of its parameters."""

    sql: str
    values: tuple[object, ...]


class PageSelection(NamedTuple):
    """The pages that are looked at; those that fulfil all that is given.

    Attributes:
        under: A URL: the page itself and all below it; empty for any.
        host: A host, at any port, or ``host:port``; empty for any.
        since: They were fetched at this time or later, seconds since 1970; None for any.
        statuses: Ranges of HTTP statuses, both ends within; empty for any.
        page_type: The type of their content; None for any.
    """

    under: str = ""
    host: str = ""
    since: float | None = None
    statuses: tuple[tuple[int, int], ...] = ()
    page_type: str | None = None

    def condition(self) -> Condition:
        """Return the condition; one that always holds where nothing is chosen.

        Raises:
            MalformedUrl: ``under`` or ``host`` is none.
        """
        parts, values = ["1"], list[object]()
        for ranges in (url_ranges(self.under), host_ranges(self.host)):
            if ranges:
                one = "(pages.canonical_url >= ? AND pages.canonical_url < ?)"
                parts.append(f"({' OR '.join([one] * len(ranges))})")
                values += [end for url_range in ranges for end in url_range]
        if self.since is not None:
            # A page that was found unchanged was fetched then.
            parts.append("max(pages.fetched_at, pages.seen_at) >= ?")
            values.append(self.since)
        if self.statuses:
            parts.append(f"({' OR '.join(['pages.status BETWEEN ? AND ?'] * len(self.statuses))})")
            values += [status for ends in self.statuses for status in ends]
        if self.page_type is not None:
            parts.append("pages.page_type = ?")
            values.append(self.page_type)
        return Condition(f"({' AND '.join(parts)})", tuple(values))


ALL = PageSelection()

_USUAL_PORTS = frozenset({"80", "443"})
"""Ports that canonical URLs of http and https leave out."""


def url_ranges(url: str) -> list[tuple[str, str]]:
    """Return from where to before where the canonical URLs at and below one lie, by http or https.

    ``/a/`` and ``/a/?q`` stand for all that begins so; ``/a`` for itself, ``/a?...`` and
    ``/a/...``, and not for ``/ab``.

    Raises:
        MalformedUrl: It is no URL.
    """
    if not url:
        return []
    after = _canonicalize(url).partition("://")[2]
    if after.endswith("/") or "?" in after:
        return list(_beginning_with(after))
    whole = [(f"{scheme}://{after}", f"{scheme}://{after}\0") for scheme in _SCHEMES]
    return [*whole, *_beginning_with(f"{after}/"), *_beginning_with(f"{after}?")]


def host_ranges(host: str) -> list[tuple[str, str]]:
    """Return the ranges of the canonical URLs of ``host``, at any port, or of ``host:port``.

    Raises:
        MalformedUrl: It is no host.
    """
    if not host:
        return []
    parts = split(_canonicalize(f"http://{host}/"))
    wanted = host.rpartition(":")[2]
    if wanted in _USUAL_PORTS and not host.endswith("]"):
        return [*_beginning_with(f"{parts.host}/"), *_beginning_with(f"{parts.host}:{wanted}/")]
    if parts.port is not None:
        return list(_beginning_with(f"{parts.host}:{parts.port}/"))
    return [*_beginning_with(f"{parts.host}/"), *_beginning_with(f"{parts.host}:")]


def _beginning_with(prefix: str) -> Iterator[tuple[str, str]]:
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    for scheme in _SCHEMES:
        yield f"{scheme}://{prefix}", f"{scheme}://{end}"


KEPT_FILTER = "kept"
"""Name of the filter for every verdict that keeps the text."""

_NAMED = """
FROM pages LEFT JOIN pages AS kept ON kept.id = pages.duplicate_of
LEFT JOIN pages AS other ON other.id = pages.resembles
LEFT JOIN pages AS whole ON whole.id = pages.part_of
LEFT JOIN elsewhere ON elsewhere.page = pages.id
"""
"""Pages with those that their verdicts name. SQLite leaves out those that a query does not use."""

_ROWS = f"""
SELECT pages.*, coalesce(kept.url, elsewhere.url) AS kept_url, other.url AS resembled_url,
       whole.url AS part_of_url, {AWAY_OUTCOME} AS away,
       (SELECT group_concat(copy.url, char(10)) FROM pages AS copy
        WHERE copy.duplicate_of = pages.id AND copy.latest = 1 AND copy.better_copy = 1
          AND copy.verdict IN ({listed({EXACT_DUPLICATE, TEXT_DUPLICATE})})
          AND NOT EXISTS (SELECT 1 FROM known WHERE known.key = copy.key
                          AND outcome IN ({listed(AWAY)}))) AS better_urls
{_NAMED}
WHERE {{}}
ORDER BY pages.id
"""
_ORIGINAL = f"""
SELECT coalesce(kept.url, elsewhere.url, other.url, whole.url) {_NAMED} WHERE pages.id = ?
"""
_DUPLICATES = f"""
SELECT pages.url, coalesce(kept.url, elsewhere.url) AS kept_url, pages.verdict, pages.distance,
       pages.similarity
{_NAMED}
WHERE pages.latest = 1 AND kept_url IS NOT NULL ORDER BY pages.id
"""
# Files that repeat a file have such a verdict too, and no text.
_TEXTS_AFTER = f"""
SELECT {{columns}} FROM pages WHERE id > ? AND latest = 1 AND verdict IN ({listed(OF_TEXTS)})
AND text_digest IS NOT NULL AND {{condition}} ORDER BY id LIMIT ?
"""
_REDIRECTS = """
SELECT redirects.key, redirects.url, target, coalesce(pages.url, requests.url, ''), fragment,
       pages.url
FROM redirects LEFT JOIN pages ON pages.key = target AND pages.latest = 1
LEFT JOIN requests ON requests.key = target
ORDER BY redirects.url
"""


class PageFilter(NamedTuple):
    """The pages to export.

    Attributes:
        verdict: Their verdict; ``kept`` for all pages with a text, None for all. A page that was
            found unchanged counts under its earlier verdict as well.
        languages: Their languages, ``en`` also for ``en-GB``; empty for any.
        min_words: Number of words that the exported text has at least; 0 also without a text.
        selection: Their URLs, times, statuses and types.
        with_copies: Whether duplicates have their text too, with ``text_of``: the URL of the page
            whose stored text it is.
    """

    verdict: str | None = None
    languages: tuple[str, ...] = ()
    min_words: int = 0
    selection: PageSelection = ALL
    with_copies: bool = False

    def takes(self, row: sqlite3.Row, page: dict[str, Any]) -> bool:
        kept = self.verdict == KEPT_FILTER and row["text"] is not None
        if not kept and self.verdict not in {None, page["verdict"], row["verdict"]}:
            return False
        if self.languages and not is_of_language(page["language"], self.languages):
            return False
        words = _count_words(page["text"] or "") if self.min_words else 0
        return words >= self.min_words


ALL_PAGES = PageFilter()


def stored_urls(connection: sqlite3.Connection, *, kept_only: bool = False) -> Iterator[str]:
    """Yield the URLs of captures by id; of kept pages alone where that is asked for."""
    condition = "latest = 1 AND text IS NOT NULL" if kept_only else "1"
    for (url,) in connection.execute(f"SELECT url FROM pages WHERE {condition} ORDER BY id"):
        yield str(url)


def export_pages(
    connection: sqlite3.Connection, chosen: PageFilter = ALL_PAGES
) -> Iterator[dict[str, Any]]:
    """Yield one mapping a URL, its newest capture, in the order of captures.

    Args:
        connection: Connection from ``open_for_reading``.
        chosen: The pages to export.
    """
    return (page for page, _ in chosen_pages(connection, chosen))


def chosen_pages(
    connection: sqlite3.Connection, chosen: PageFilter
) -> Iterator[tuple[dict[str, Any], bytes | None]]:
    """Yield the mapping of each page to export, and its content as it is stored."""
    condition, values = chosen.selection.condition()
    for row in connection.execute(_ROWS.format(f"pages.latest = 1 AND {condition}"), values):
        page, content = page_of(row), row["content"]
        if chosen.with_copies:
            content, page["text_of"] = held_content(connection, row)
            page["text"], page["comments"] = text_of(content), comments_of(content)
        if chosen.languages:
            tell_language(page)
        if chosen.takes(row, page):
            yield page, content


def tell_language(page: dict[str, Any]) -> None:
    """Write the language that its text tells into the mapping of a page that declares none."""
    spoken = declared_or_told(page["language"], page["text"] or "")
    if spoken not in {None, page["language"]}:
        page["language"], page["sources"] = spoken, {**(page["sources"] or {}), "language": "text"}


def held_content(
    connection: sqlite3.Connection, row: sqlite3.Row
) -> tuple[bytes | None, str | None]:
    """Return the content of a page, also of a duplicate, and the URL of the page that has it.

    A duplicate has its own where it is stored (``near_texts``), else that of an equal text. A
    near-duplicate without its own has none: what it says was not kept.
    """
    if row["content"] is not None:
        return row["content"], row["url"]
    if row["verdict"] not in DUPLICATES:
        return None, None
    from crawler.pages.stored_texts import find_text  # noqa: PLC0415  # needs NumPy

    held = find_text(connection.execute, row["id"], row["text_digest"], row["words"])
    if held is None:
        return None, None
    return held.stored.content, url_of(connection.execute, held.page)


def captures_after(
    connection: sqlite3.Connection, last: int, chosen: PageFilter
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the captures that came after another one, each with its number.

    Args:
        connection: Connection from ``open_for_reading``.
        last: ``pages.id`` of that capture.
        chosen: The pages to yield.
    """
    for row in connection.execute(_ROWS.format("pages.id > ?"), (last,)):
        page = page_of(row)
        if chosen.takes(row, page):
            yield row["id"], page


def texts_after(
    connection: sqlite3.Connection,
    last: int,
    columns: Sequence[str],
    condition: Condition,
    most: int,
) -> list[sqlite3.Row]:
    """Return columns of chosen pages with a text that were captured after one, in their order."""
    sql = _TEXTS_AFTER.format(columns=", ".join(columns), condition=condition.sql)
    return connection.execute(sql, (last, *condition.values, most)).fetchall()


class Duplicate(NamedTuple):
    """A page that repeats a kept one.

    Attributes:
        url: Its URL, as requested.
        duplicate_of: The URL of the kept page.
        verdict: How it repeats it, such as ``exact_duplicate``.
        distance: Hamming distance of the fingerprints in bits, where they were compared.
        similarity: Jaccard similarity, 0 to 1, where it was measured.
    """

    url: str
    duplicate_of: str
    verdict: str
    distance: int | None
    similarity: float | None


def duplicates(connection: sqlite3.Connection) -> Iterator[Duplicate]:
    """Yield every page that repeats a kept one, in the order of captures."""
    return (Duplicate(*row) for row in connection.execute(_DUPLICATES))


class Redirect(NamedTuple):
    """A URL that redirects.

    Attributes:
        url: The URL, as requested.
        target: The URL of the page where it leads; None where none was fetched.
    """

    url: str
    target: str | None


def redirects(connection: sqlite3.Connection) -> Iterator[Redirect]:
    """Yield every URL that redirects."""
    return (Redirect(row[1], row[5]) for row in stored_redirects(connection))


def stored_redirects(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a redirect a row: key and URL, those of its target, the fragment, the target's page.

    The URL of a target that was neither fetched nor queued is empty.
    """
    return connection.execute(_REDIRECTS)


def original_url(connection: sqlite3.Connection, page: int) -> str | None:
    """Return the URL of the page that a page repeats, resembles or is a part of, or None."""
    row = connection.execute(_ORIGINAL, (page,)).fetchone()
    return None if row is None else row[0]


def choices_met(
    connection: sqlite3.Connection, column: str, *, kept_only: bool = True
) -> dict[Any, int]:
    """Return the values of a column of pages and their numbers, frequent ones first."""
    condition = "latest = 1 AND text IS NOT NULL" if kept_only else "latest = 1"
    counted = connection.execute(
        f"SELECT {column}, count(*) FROM pages WHERE {condition} GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    return dict(counted)


def languages_met(connection: sqlite3.Connection) -> dict[str | None, int]:
    """Return what kept pages declare or their texts tell, as ``choices_met`` does."""
    pages = export_pages(connection, PageFilter(KEPT_FILTER))
    told = (declared_or_told(page["language"], page["text"]) for page in pages)
    return dict(Counter(told).most_common())


def _count_words(text: str) -> int:
    from neardup.features.shingles import count_words  # noqa: PLC0415  # needs NumPy

    return count_words(text)
