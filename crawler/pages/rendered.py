"""Choose between a page as it came and as a browser shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from crawler.pages.reasons import Reason, Stored
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.pages.page_context import Fetched
    from crawler.reading.reading import Link, Reading

MIN_SHARE = 0.8
"""A browser must show this share of the words that came, or the page is judged as it came."""

MIN_WORDS = 150
"""A page with fewer words may show an error in place of what it could not load."""


MIN_MORE_WORDS = 20
MIN_MORE_SHARE = 0.1
"""A browser shows more if it has so many words more, and this share of those that came."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page with what a browser showed of it.

    Attributes:
        reading: The reading to judge, with the links of both.
        is_taken: Whether that is the reading of what the browser showed.
        payload: Digest of the document that it showed.
        reason: Note for the page.
    """

    reading: Reading
    is_taken: bool
    payload: bytes
    reason: Stored


class PageRenderer(Protocol):
    """Shows answers in a browser."""

    @property
    def is_behind(self) -> bool:
        """Whether so many pages wait for the browser that none is to be fetched."""

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer; return None where that is not to be done."""


def not_shown(plain: Reading, why: str) -> Rendered:
    """Return a page that the browser did not show."""
    return Rendered(plain, is_taken=False, payload=b"", reason=Reason.NOT_RENDERED.stored(why))


def choose(
    plain: Reading,
    shown: Reading,
    html: bytes,
    missed: Sequence[str] = (),
    routes: Sequence[Link] = (),
) -> Rendered:
    """Return what a page is judged by; it never loses words or links by a browser.

    A page that shows little, and could not load something, may show at many URLs that it could not:
    as it came it is a shell of its URL.

    Args:
        plain: Reading of the page as it came.
        shown: Reading of the document that the browser showed.
        html: That document.
        missed: What kept it from being complete.
        routes: Further links that the browser found.
    """
    links = _joined(shown.links, plain.links, routes)
    plain = replace(plain, links=links)
    words = _words(shown)
    if not shown.is_page or shown.extract is None:
        return not_shown(plain, shown.failure or shown.not_html or "no text")
    if shown.is_app_shell:
        return not_shown(plain, "; ".join(missed) or "its scripts show nothing either")
    if not plain.is_app_shell and words < MIN_SHARE * _words(plain):
        return not_shown(plain, "it has fewer words there")
    if missed and words < MIN_WORDS:
        return not_shown(plain, "; ".join(missed))
    reason = Reason.RENDERED.stored()
    if shown.visible_digest == plain.visible_digest:
        return Rendered(plain, is_taken=False, payload=b"", reason=reason)
    taken = replace(shown, links=links, links_cut=shown.links_cut + plain.links_cut)
    return Rendered(taken, is_taken=True, payload=payload_digest(html), reason=reason)


def shows_more(plain: Reading, shown: Reading, is_new: Callable[[Link], bool]) -> bool:
    """Return whether a browser shows clearly more words of a page, or a link to a new one.

    Args:
        plain: Reading of the page as it came.
        shown: Reading of the document that the browser showed.
        is_new: Tells whether a link leads to a page that was not met yet.
    """
    words = _words(plain)
    if _words(shown) - words >= max(MIN_MORE_WORDS, words * MIN_MORE_SHARE):
        return True
    known = {link.key for link in plain.links}
    return any(link.key not in known and is_new(link) for link in shown.links)


def _words(reading: Reading) -> int:
    return 0 if reading.extract is None else reading.extract.words


def _joined(*found: Sequence[Link]) -> tuple[Link, ...]:
    """Return links without those whose key came before."""
    joined: dict[bytes, Link] = {}
    for links in found:
        for link in links:
            joined.setdefault(link.key, link)
    return tuple(joined.values())
