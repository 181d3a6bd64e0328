"""Define the verdicts on pages, the outcomes of URLs since the visit before, and groups of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

NEW = "new"
EXACT_DUPLICATE = "exact_duplicate"
TEXT_DUPLICATE = "text_duplicate"
NEAR_DUPLICATE = "near_duplicate"
TOO_SHORT = "too_short"
UNREADABLE = "unreadable"
NOT_HTML = "not_html"
NOINDEX = "noindex"
UNCHANGED = "unchanged"
CHANGED = "changed"
FAILED = "failed"
MOVED = "moved"
GONE = "gone"
FORBIDDEN = "forbidden"

VERDICTS: dict[str, str] = {
    NEW: "no kept page resembles it: kept",
    CHANGED: "fetched before, its text is another one now: kept",
    TOO_SHORT: "too few words to compare, its text is not known yet: kept",
    UNCHANGED: "fetched before, the same text as then",
    EXACT_DUPLICATE: "byte for byte a page that is kept",
    TEXT_DUPLICATE: "word for word a page that is kept",
    NEAR_DUPLICATE: "nearly the words of a page that is kept",
    NOINDEX: "asks not to be kept (robots meta or X-Robots-Tag)",
    NOT_HTML: "not a page: an image, an archive, JSON ...",
    UNREADABLE: "an answer came and could not be read",
    FAILED: "no page came: an HTTP error, no connection, forbidden by robots.txt",
}
"""Map every verdict to its meaning, in the order of reports."""

KEPT = frozenset({NEW, CHANGED, TOO_SHORT})
"""Verdicts that store the text and pass the item on."""

DUPLICATES = frozenset({EXACT_DUPLICATE, TEXT_DUPLICATE, NEAR_DUPLICATE})
"""Verdicts that name another page as the kept one."""

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


def listed(words: Collection[str]) -> str:
    """Return words as SQL lists them: verdicts in the order of ``VERDICTS``, then others by name.

    SQLite uses a partial index only where a query has its very condition, so that this is the order
    in the indexes of ``crawler.storage.schema``.
    """
    ordered = sorted(words, key=lambda word: (_PLACES.get(word, len(_PLACES)), word))
    return ", ".join(f"'{word}'" for word in ordered)
