"""Name the reasons why a URL gave no page, or why a page is noted as odd, and put them in words.

A stored reason is one line: a code, and after a space a detail that only people read. A page may
have several, a line each. Decisions ask for the code of a reason; reports, items and exports
print its words.
"""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NewType

from crawler.pages.verdicts import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

Stored = NewType("Stored", str)
"""Reasons as they are stored in the column ``reason`` of ``pages`` and ``known``."""


class Reason(StrEnum):
    HTTP_STATUS = "http_status"
    NO_LOCATION = "no_location"
    REDIRECT_LEFT = "redirect_left"
    NOT_MODIFIED = "not_modified"
    FORBIDDEN = "forbidden_by_robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    ROBOTS_FORBID_NOTHING = "robots_forbid_nothing"
    REDIRECTED_OUT = "redirected_out"
    REDIRECTED_ENDLESSLY = "redirected_endlessly"
    REDIRECTED_IN_CIRCLE = "redirected_in_circle"
    REDIRECTED_TO_NO_URL = "redirected_to_no_url"
    MOVED_FOR_NOW = "moved_for_now"
    REFUSED = "refused"
    NO_HOST = "no_host"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_LOST = "connection_lost"
    CONNECTION_LOST_MIDWAY = "connection_lost_midway"
    TIMEOUT = "timeout"
    NO_HTTP = "no_http"
    UNKNOWN_SCHEME = "unknown_scheme"
    ERROR = "error"
    TOO_LARGE = "too_large"
    BAD_ANSWER = "bad_answer"
    UNREADABLE = "unreadable"
    OTHER_TYPE = "other_type"
    LIBRARY_MISSING = "library_missing"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    TOO_LARGE_TO_READ = "too_large_to_read"
    NO_TEXT = "no_text"
    NO_SITEMAP = "no_sitemap"
    NOT_SITEMAP = "not_sitemap"
    SITEMAP_CUT = "sitemap_cut"
    CUT_TRANSFER = "cut_transfer"
    CUT_STREAM = "cut_stream"
    UNASKED_PART = "unasked_part"
    ONLY_A_PART = "only_a_part"
    FALSE_CODING = "false_coding"
    LINKS_LEFT_OUT = "links_left_out"
    LINKS_TOO_LONG = "links_too_long"
    NOT_COMPARED = "not_compared"
    RESEMBLES = "resembles"
    SAYS_NOTHING = "says_nothing"
    VERDICT = "verdict"
    LOST_FILE = "lost_file"
    RESTORED = "restored"
    NO_SUCH_PAGE = "no_such_page"
    AS_UNKNOWN = "as_unknown"
    WALL = "wall"
    APP_SHELL = "app_shell"
    RENDERED = "rendered"
    RENDERED_IN_PART = "rendered_in_part"
    NOT_RENDERED = "not_rendered"
    RENDERED_LESS = "rendered_less"
    NOT_SEEN = "not_seen"

    def stored(self, detail: object = "") -> Stored:
        """Return the reason as it is stored, its detail in one line."""
        return Stored(" ".join((self.value, *str(detail).split())))


_WORDS: dict[Reason, str] = {
    Reason.HTTP_STATUS: "HTTP {}",
    Reason.NO_LOCATION: "HTTP {} without a Location",
    Reason.REDIRECT_LEFT: "HTTP {}, which is not fetched",
    Reason.NOT_MODIFIED: "HTTP 304 where the page was asked for",
    Reason.FORBIDDEN: "forbidden by robots.txt",
    Reason.ROBOTS_UNREACHABLE: "robots.txt cannot be had: {}",
    Reason.ROBOTS_FORBID_NOTHING: "taken as if it forbade nothing",
    Reason.REDIRECTED_OUT: "redirected out of the scope",
    Reason.REDIRECTED_ENDLESSLY: "redirected without end",
    Reason.REDIRECTED_IN_CIRCLE: "redirected in a circle",
    Reason.REDIRECTED_TO_NO_URL: "redirects to what is no URL: {}",
    Reason.MOVED_FOR_NOW: "temporarily (HTTP {})",
    Reason.NO_HOST: "no such host",
    Reason.CONNECTION_REFUSED: "connection refused",
    Reason.CONNECTION_LOST: "connection lost",
    Reason.CONNECTION_LOST_MIDWAY: "connection lost in the middle of the answer",
    Reason.TIMEOUT: "no answer in time",
    Reason.NO_HTTP: "not an HTTP answer: {}",
    Reason.UNKNOWN_SCHEME: "neither http nor https",
    Reason.TOO_LARGE: "larger than {}",
    Reason.LIBRARY_MISSING: "{}, which needs the extra [documents] to be read",
    Reason.ENCRYPTED: "encrypted: {}",
    Reason.DAMAGED: "cannot be read: {}",
    Reason.TOO_LARGE_TO_READ: "too large to be read: {}",
    Reason.NO_TEXT: "no text to be read: {}",
    Reason.NO_SITEMAP: "no sitemap: {}",
    Reason.NOT_SITEMAP: "not a sitemap",
    Reason.SITEMAP_CUT: "the sitemap is too long; URLs taken from it: {}",
    Reason.CUT_TRANSFER: "truncated: the server sent less than it said",
    Reason.CUT_STREAM: "truncated: its compressed stream breaks off, or is damaged",
    Reason.UNASKED_PART: "truncated: HTTP 206, which was not asked for",
    Reason.ONLY_A_PART: "only a part of it came",
    Reason.FALSE_CODING: "its Content-Encoding is false: read as it came",
    Reason.LINKS_LEFT_OUT: "links beyond READING_MAX_LINKS, not taken: {}",
    Reason.LINKS_TOO_LONG: "links longer than URLLENGTH_LIMIT, not taken: {}",
    Reason.NOT_COMPARED: (
        "not compared with all kept texts that are near: they were too many or too long"
    ),
    Reason.RESEMBLES: "nearly the words of {}, which another crawl of the fleet keeps",
    Reason.SAYS_NOTHING: "it has no text now",
    Reason.NO_SUCH_PAGE: "at many URLs the same text says that there is no such page",
    Reason.AS_UNKNOWN: "many URLs answer like one that cannot exist",
    Reason.WALL: "many URLs ask for the same: {}",
    Reason.APP_SHELL: "shows nothing until its scripts fill it, which they do not here",
    Reason.RENDERED: "as a browser shows it",
    Reason.RENDERED_IN_PART: "as a browser shows it, but not all of it: {}",
    Reason.NOT_RENDERED: "as it came, since no browser could show it: {}",
    Reason.NOT_SEEN: "its scripts may show something else, and no browser was asked",
    Reason.RENDERED_LESS: "as it came, since a browser shows fewer words of it",
    Reason.LOST_FILE: "a file like one that no crawl has any more",
    Reason.RESTORED: "from the texts of its fleet, since no crawl has the page",
}
"""Map a code to its words, {} for the detail. The words of other codes are the detail alone."""

SHOWN = frozenset({Reason.RENDERED, Reason.RENDERED_IN_PART})
"""Reasons of a page whose text is what a browser showed."""

NOT_WHOLE = frozenset(
    {Reason.APP_SHELL, Reason.NOT_RENDERED, Reason.NOT_SEEN, Reason.RENDERED_IN_PART}
)
"""Reasons of a page of which a browser may show more at another time."""

CUTS = frozenset({Reason.CUT_TRANSFER, Reason.CUT_STREAM, Reason.UNASKED_PART})
"""Reasons of an answer that came in part."""

TOLD_BY_URL = (NOT_WHOLE - {Reason.NOT_SEEN}) | CUTS
"""Reasons of a page whose text has its URL in it, so that it is kept at each of its URLs."""


def lines(stored: Stored | None) -> list[Stored]:
    """Return the single reasons of stored ones, in their order."""
    return [] if not stored else [Stored(line) for line in str(stored).split("\n")]


def together(*reasons: Stored | None) -> Stored:
    """Return several reasons as they are stored, each once."""
    single = [line for reason in reasons for line in lines(reason)]
    return Stored("\n".join(dict.fromkeys(single)))


def codes(stored: Stored | None) -> set[Reason]:
    return {code for line in lines(stored) if (code := _code(line)) is not None}


def detail_of(stored: Stored | None, reason: Reason) -> str | None:
    """Return the detail of one of several stored reasons; None where it is not among them."""
    found = (line.partition(" ")[2] for line in lines(stored) if _code(line) == reason)
    return next(found, None)


def without(stored: Stored | None, reason: Reason) -> Stored | None:
    """Return stored reasons without one of them; None where no other is left."""
    return together(*(line for line in lines(stored) if _code(line) != reason)) or None


def in_words(stored: Stored | None) -> str | None:
    """Return what people read of stored reasons; None where there is none."""
    return "; ".join(_words(stored)) or None


def _words(stored: Stored | None) -> Iterator[str]:
    for line in lines(stored):
        code, detail = _code(line), line.partition(" ")[2]
        if code is None:  # nothing that a crawl of ours wrote
            yield line
        elif code == Reason.VERDICT:
            yield VERDICTS.get(detail, detail)
        else:
            yield _WORDS.get(code, "{}").replace("{}", detail)


def code_and_number(stored: Stored | None) -> tuple[str, str]:
    """Return the code of the first reason, and the HTTP status that is its detail, if any.

    There are so few of both that they can name counters.
    """
    first = next(iter(lines(stored)), "")
    code, detail = _code(first), first.partition(" ")[2]
    is_status = code in {Reason.HTTP_STATUS, Reason.NO_LOCATION} and detail.isdecimal()
    return code or Reason.ERROR, detail[:3] if is_status else ""


def _code(line: str) -> Reason | None:
    with suppress(ValueError):
        return Reason(line.partition(" ")[0])
    return None
