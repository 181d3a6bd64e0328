"""Define the verdicts on pages, the outcomes of URLs since the visit before, and groups of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

NEW = "new"
EXACT_DUPLICATE = "exact_duplicate"
TEXT_DUPLICATE = "text_duplicate"
NEAR_DUPLICATE = "near_duplicate"
TOO_SHORT = "too_short"
SAME_TEMPLATE = "same_template"
CONTAINED = "contained"
UNREADABLE = "unreadable"
NOT_HTML = "not_html"
NOINDEX = "noindex"
SOFT_404 = "soft_404"
WALL = "wall"
UNCHANGED = "unchanged"
CHANGED = "changed"
FAILED = "failed"
MOVED = "moved"
GONE = "gone"
FORBIDDEN = "forbidden"

VERDICTS: dict[str, str] = {
    NEW: "no kept page resembles it: kept",
    CHANGED: "fetched before, its text is another one now: kept",
    TOO_SHORT: "too few words to compare, and no kept page has this text: kept",
    SAME_TEMPLATE: "nearly the words of a kept page of another name or content: kept",
    UNCHANGED: "fetched before, the same text as then",
    EXACT_DUPLICATE: "byte for byte a page that is kept, or a file met before",
    TEXT_DUPLICATE: "word for word a page that is kept",
    NEAR_DUPLICATE: "nearly the words of a page that is kept",
    CONTAINED: "a part of a page that is kept",
    NOINDEX: "asks not to be kept (robots meta or X-Robots-Tag)",
    SOFT_404: "what a site says of a URL that does not exist, with HTTP 200",
    WALL: "asks for a login, a consent or scripts in place of a page, at many URLs",
    NOT_HTML: "not a page: an image, an archive, JSON, a document without text ...",
    UNREADABLE: "an answer came and could not be read",
    FAILED: "no page came: an HTTP error, no connection, forbidden by robots.txt",
}
"""Map every verdict to its meaning, in the order of reports."""

KEPT = frozenset({NEW, CHANGED, TOO_SHORT, SAME_TEMPLATE})
"""Verdicts that store the text and pass the item on."""

INEXACT = frozenset({NEAR_DUPLICATE, CONTAINED})
"""Verdicts on duplicates with words of their own, whose text is stored beside them."""

DUPLICATES = frozenset({EXACT_DUPLICATE, TEXT_DUPLICATE}) | INEXACT
"""Verdicts that name another page as the kept one."""

WALLS = frozenset({SOFT_404, WALL})
"""Verdicts on what answers at many URLs in place of pages; its text is stored beside it."""

OF_TEXTS = KEPT | DUPLICATES
"""Verdicts on a text, or on its bytes, relative to all others."""

ORIGINALS = KEPT | {NOT_HTML}
"""Verdicts on the pages and files that a duplicate may name."""

WITHOUT_PAGE = frozenset({UNREADABLE, FAILED})
"""Verdicts on requests after which nothing was read."""

OUTCOMES: dict[str, str] = {
    NEW: "a page that was not known",
    CHANGED: "says something else than at its last visit",
    UNCHANGED: "not modified (HTTP 304), or the same text",
    MOVED: "redirects elsewhere now",
    GONE: "HTTP 404 or 410; its last text stays",
    FORBIDDEN: "robots.txt forbids it now; its last text stays",
    FAILED: "nothing, an error or a part came, not the page; its last text stays",
}
"""Map every outcome to its meaning, in the order of reports."""

READ = frozenset({NEW, UNCHANGED, CHANGED})
"""Outcomes of pages that were fetched."""

AWAY = frozenset({MOVED, GONE, FORBIDDEN, FAILED})
"""Outcomes of URLs that gave no page."""

_PLACES = {verdict: place for place, verdict in enumerate(VERDICTS)}


class JudgedCapture(Protocol):
    """A capture with its verdict and the number of its words."""

    @property
    def verdict(self) -> str: ...

    @property
    def words(self) -> int | None: ...


def says_less(capture: JudgedCapture, previous: JudgedCapture) -> bool:
    """Return whether a capture without content would replace one with content."""
    if capture.verdict in WITHOUT_PAGE:
        return True
    if capture.verdict in WALLS:
        return previous.verdict not in WALLS and bool(previous.words)
    empty = capture.verdict == NOT_HTML or (capture.verdict in KEPT and not capture.words)
    return empty and bool(previous.words)


def listed(words: Collection[str]) -> str:
    """Return words as SQL lists them: verdicts in the order of ``VERDICTS``, then others by name.

    SQLite uses a partial index only where a query has its very condition, so that this is the order
    in the indexes of ``crawler.storage.schema``.
    """
    ordered = sorted(words, key=lambda word: (_PLACES.get(word, len(_PLACES)), word))
    return ", ".join(f"'{word}'" for word in ordered)


AWAY_OUTCOME = f"""
(SELECT outcome FROM known WHERE known.key = pages.key AND outcome IN ({listed(AWAY)}))
"""
"""The outcome of the last visit of a row of ``pages`` that gave no page, NULL where it did."""

IS_AWAY = f"{AWAY_OUTCOME} IS NOT NULL"
"""The condition on ``pages`` that a URL gave no page at its last visit, though its text stays."""

STILL_AWAY = f"known.since < known.visit AND known.outcome IN ({listed(AWAY - {FAILED})})"
"""The condition on ``known`` that the visit before told already where a page went."""
