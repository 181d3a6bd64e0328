"""List every key that the crawler puts into ``Request.meta``, and read what it decides by them.

Keys travel with a request into ``crawl.db`` and to other workers, so each value is JSON.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from crawler.frontier.order import MAX_DEPTH
from crawler.reading.link_kinds import DESCRIPTIONS, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy import Request

SEED: Final = "crawl_seed"
"""str: the seed of this request, as the user typed it."""

LED_BY: Final = "crawl_led_by"
"""str: the URL that led to a request without a ``Referer`` header."""

FIXED: Final = "crawl_fixed"
"""bool: no rule may skip the request."""

SPELLING: Final = "crawl_spelling"
"""bool: the request tries another spelling of a URL that gave no page."""

CONTROL: Final = "crawl_control"
"""str: the key, in hexadecimal digits, of the variant for whose trial a page is fetched again."""

PROOF: Final = "crawl_proof"
"""list: slots and what stood there; the page is fetched again to see whether it moves."""

NOT_BEFORE: Final = "crawl_not_before"
"""float: seconds since 1970 before which the request is not made."""

ANEW: Final = "crawl_anew"
"""bool: the page is judged again, also where its bytes are as before."""

COOKIES: Final = "crawl_cookies"
"""list: a URL that is asked for to compare, whether with cookies, and what came or was new."""

LINK_KIND: Final = "crawl_link_kind"
"""str: the kind of the link that led there, where it is no anchor."""

GUESS: Final = "crawl_guess"
"""bool: the URL may be no page, so that an answer 4xx is no failure."""

LIST: Final = "crawl_list"
"""bool: the file is a sitemap, read for the URLs that it lists; a link to it leads to a page."""

AGAIN: Final = "crawl_again"
"""bool: the page was fetched, and only its links are to be followed."""

WHOLE: Final = "crawl_whole"
"""bool: the server must send the page, whether it has changed or not."""

WAITED: Final = "crawl_waited_secs"
"""float: the total pauses of the host since this request was refused, in seconds."""

ASKED_IF: Final = "crawl_asked_if"
"""bool: the request has conditional headers that the crawler added, not its spider."""

ROBOTS_BYTES: Final = "crawl_robots_bytes"
"""int: the bytes of a robots.txt that came so far."""

RECORDED: Final = "crawl_recorded"
"""list: the record of the answer in the archive, as ``Recorded``."""

FOR_A_PAGE: Final = "mirror_for_a_page"
"""int: the number of steps from the page of the mirror that needs this file."""

DOWNLOAD_SLOT: Final = "download_slot"
"""str: the slot of Scrapy's downloader that a request uses."""

RETRY_TIMES: Final = "retry_times"
"""int: Scrapy's count of the attempts that failed."""

OF_REDIRECTS: Final = frozenset(
    {"redirect_reasons", "redirect_times", "redirect_ttl", "redirect_urls"}
)
"""Keys that tell how a request was redirected."""

DONT_CACHE: Final = "dont_cache"
"""bool: Scrapy's HTTP cache neither answers the request nor stores the answer."""

OF_ONE_ANSWER: Final = frozenset({"download_latency", RETRY_TIMES, WAITED})
"""Keys that tell of one answer only, and never of the request that follows it."""

_OF_ONE_SPELLING = OF_REDIRECTS | OF_ONE_ANSWER | {DOWNLOAD_SLOT, "dont_retry"}

_MAX_HEADER = 1024


def without(meta: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name not in names}


def is_apart(meta: Mapping[str, Any]) -> bool:
    """Return whether a request is no request of the page at its URL, which a link may lead to.

    Such are files that are read for the pages they name, and what may be the name of a file: of
    that an answer may be dropped.
    """
    kind = meta.get(LINK_KIND) if GUESS in meta else None
    return LIST in meta or kind in DESCRIPTIONS or (kind == SCRIPT and FOR_A_PAGE in meta)


def for_another_spelling(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``meta`` of another spelling: that of the first without traces of its download."""
    return without(meta, _OF_ONE_SPELLING) | {SPELLING: True}


def compared(request: Request) -> tuple[bool, Any] | None:
    """Return whether a request is made with cookies to compare, and with what; None: it is not."""
    url, *told = request.meta.get(COOKIES, ("",))
    return (told[0], told[1]) if url == request.url else None


def depth_of(meta: Mapping[str, Any]) -> int:
    """Return the depth of a request, which is stored in its ``meta``."""
    depth = meta.get("depth", 0)
    return min(depth, MAX_DEPTH) if isinstance(depth, int) and depth > 0 else 0


def host_name(request: Request) -> str:
    """Return the name of a request's line: that of its host, or of the slot that it names.

    The downloader's name of its slot will not do: with ``CONCURRENT_REQUESTS_PER_IP`` it changes
    when the host is resolved, and in another process.
    """
    # A slot may have any name.
    return str(request.meta.get(DOWNLOAD_SLOT) or host_in(request.url))


@lru_cache(256)
def host_in(url: str) -> str:
    """Return the host of a URL, "" where it has none; it is asked often for each page."""
    return urlsplit(url).hostname or ""


def is_made_anyway(request: Request) -> bool:
    """Return whether a request is made whatever was learned of its URL.

    The target of a redirect is the page of the request that was redirected.
    """
    if request.dont_filter or request.meta.get("redirect_urls"):
        return True
    if FIXED in request.meta or SPELLING in request.meta:
        return True
    return request.method != "GET" or bool(request.body)


def link_source(request: Request) -> str | None:
    """Return the URL of the page on which a link was met, or None of a seed.

    A request that is made again (``FIXED``) is led by itself or by a seed, which need not have a
    link to it, nor need the page that its Referer names; one for links that are followed again
    (``AGAIN``) is led by the page that has them.
    """
    if FIXED in request.meta and LED_BY in request.meta and AGAIN not in request.meta:
        return None
    return _referer(request) or request.meta.get(LED_BY)


def led_by(request: Request) -> str | None:
    """Return the URL that led to a request, or None where it is not known."""
    redirected: list[str] = request.meta.get("redirect_urls", [])
    if redirected:
        return redirected[0]
    noted: str | None = request.meta.get(LED_BY)
    return noted if noted and FIXED in request.meta else _referer(request) or noted


def _referer(request: Request) -> str | None:
    referer = request.headers.get(b"Referer")
    return None if referer is None else referer.decode("latin-1")


def header_text(value: bytes | None) -> str | None:
    """Return a header as text, None for one that is too long."""
    return None if value is None or len(value) > _MAX_HEADER else value.decode("latin-1")
