"""Choose between a page as it came and as a browser shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.pages.reasons import Reason, Stored
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.reading.reading import Link, Reading

SHOWS_NOTHING = "its scripts show nothing either"

MIN_SHARE = 0.8
"""A browser must show this share of the words that came, or the page is judged as it came."""

MIN_MORE_WORDS = 20
MIN_MORE_SHARE = 0.1
"""A browser shows more if this many words of it did not come, and this share of those that
came."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page with what a browser showed of it.

    Attributes:
        reading: The reading to judge, with the links of both. Where the page is not known whole,
            it was read apart from all others (``ReadingTask.apart``).
        is_taken: Whether that is the reading of what the browser showed.
        is_whole: Whether nothing kept the browser from showing all of the page. What is missing may
            be what tells it from others: such a page is no copy, and has none.
        document: HTML of the document that was taken; empty where none was.
        reason: Note for the page; empty where there is nothing to say.
        is_patient: Whether the browser waited for long, so that it is not to look again.
        is_copy: Whether another page that came with the same words is shown as this one.
        works_on_disk: Whether a mirror is to have it as it came unless that tells it from others.
    """

    reading: Reading
    is_taken: bool
    is_whole: bool
    document: bytes
    reason: Stored
    is_patient: bool = False
    is_copy: bool = False
    works_on_disk: bool = False


def not_shown(apart: Reading, why: str) -> Rendered:
    """Return a page that the browser could not show.

    Args:
        apart: The page as it came, read apart from all others.
        why: What kept the browser from it, in a few words.
    """
    reason = Reason.NOT_RENDERED.stored(why)
    return Rendered(apart, is_taken=False, is_whole=False, document=b"", reason=reason)


def choose(
    plain: Reading,
    shown: Reading,
    html: bytes,
    lacks: Sequence[str] = (),
    routes: Sequence[Link] = (),
) -> Rendered:
    """Return what a page is judged by; it never loses words or links by a browser.

    Args:
        plain: Reading of the page as it came.
        shown: Reading of the document that the browser showed, apart from all others where it lacks
            something.
        html: That document.
        lacks: What kept the document from being whole.
        routes: Further links that the browser found.

    Returns:
        The choice. Where it is neither taken nor whole, its reading is ``plain`` with more links,
        which is to be read apart.
    """
    links = _joined(shown.links, plain.links, routes)
    plain, why = replace(plain, links=links), "; ".join(lacks)
    if not shown.is_page or shown.extract is None:
        return not_shown(plain, shown.failure or shown.not_html or "no text")
    if plain.is_app_shell and shown.is_app_shell:
        return not_shown(plain, why or SHOWS_NOTHING)
    is_less = not plain.is_app_shell and _words(shown) < MIN_SHARE * _words(plain)
    if shown.is_app_shell or (is_less and not says_other(plain, shown)):
        if lacks:
            return not_shown(plain, why)
        less = Reason.RENDERED_LESS.stored()
        return Rendered(plain, is_taken=False, is_whole=True, document=b"", reason=less)
    reason = Reason.RENDERED_IN_PART.stored(why) if lacks else Reason.RENDERED.stored()
    if shown.visible_digest == plain.visible_digest:
        return Rendered(plain, is_taken=False, is_whole=not lacks, document=b"", reason=reason)
    taken = replace(shown, links=links, links_cut=shown.links_cut + plain.links_cut)
    return Rendered(taken, is_taken=True, is_whole=not lacks, document=html, reason=reason)


def says_other(before: Reading, now: Reading) -> bool:
    """Return whether a reading has clearly other words than an earlier one.

    Complexity: O(length of both texts), up to a second for megabytes.
    """
    return has_other_words(_text(before), _text(now))


def has_other_words(before: str, now: str) -> bool:
    """Return whether a text has ``MIN_MORE_WORDS`` words, and a share, that another one lacks."""
    known = Counter(split_whole(before)[1].split())
    wanted = max(MIN_MORE_WORDS, known.total() * MIN_MORE_SHARE)
    more = 0
    for word in split_whole(now)[1].split():
        if known[word] > 0:
            known[word] -= 1
        else:
            more += 1
            if more >= wanted:
                return True
    return False


def lacks_words(before: str, now: str) -> bool:
    """Return whether a text lacks words of an earlier one."""
    left = Counter(split_whole(before)[1].split())
    left.subtract(split_whole(now)[1].split())
    return any(count > 0 for count in left.values())


def leads_on(plain: Reading, shown: Reading, is_new: Callable[[Link], bool]) -> bool:
    """Return whether a browser found a link to a page that was not met yet."""
    known = {link.key for link in plain.links}
    return any(link.key not in known and is_new(link) for link in shown.links)


def _words(reading: Reading) -> int:
    return 0 if reading.extract is None else reading.extract.words


def _text(reading: Reading) -> str:
    return reading.text or ""


def _joined(*found: Sequence[Link]) -> tuple[Link, ...]:
    """Return links without those whose key came before."""
    joined: dict[bytes, Link] = {}
    for links in found:
        for link in links:
            joined.setdefault(link.key, link)
    return tuple(joined.values())
