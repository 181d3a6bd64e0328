"""List every key that the crawler puts into ``Request.meta``, with the type of its value.

Keys travel with a request into ``crawl.db`` and to other workers, so each value is JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from crawler.frontier.order import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SEED: Final = "crawl_seed"
"""str: the seed of this request, as the user typed it."""

LED_BY: Final = "crawl_led_by"
"""str: the URL that led to a request without a ``Referer`` header."""

FIXED: Final = "crawl_fixed"
"""bool: no rule may skip the request."""

SPELLING: Final = "crawl_spelling"
"""bool: the request tries another spelling of a URL that gave no page."""

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

OWN_KEYS: Final = frozenset(
    {
        SEED,
        LED_BY,
        FIXED,
        SPELLING,
        AGAIN,
        WHOLE,
        WAITED,
        ASKED_IF,
        ROBOTS_BYTES,
        RECORDED,
        FOR_A_PAGE,
    }
)
"""All of the above."""

DOWNLOAD_SLOT: Final = "download_slot"
"""str: the slot of Scrapy's downloader that a request uses."""

RETRY_TIMES: Final = "retry_times"
"""int: Scrapy's count of the attempts that failed."""

SCRAPY_KEYS: Final = frozenset(
    {
        "depth",
        "dont_obey_robotstxt",
        "dont_retry",
        "download_fail_on_dataloss",
        "download_latency",
        "download_maxsize",
        DOWNLOAD_SLOT,
        "max_retry_times",
        "proxy",
        "redirect_reasons",
        "redirect_times",
        "redirect_ttl",
        "redirect_urls",
        RETRY_TIMES,
    }
)
"""Keys of Scrapy's that are read or written here under Scrapy's names."""

OF_REDIRECTS: Final = frozenset(
    {"redirect_reasons", "redirect_times", "redirect_ttl", "redirect_urls"}
)
"""Keys that tell how a request was redirected."""

OF_ONE_ANSWER: Final = frozenset({"download_latency", RETRY_TIMES, WAITED})
"""Keys that tell of one answer only, and never of the request that follows it."""

_OF_ONE_SPELLING = (
    OF_REDIRECTS | OF_ONE_ANSWER | {DOWNLOAD_SLOT, "download_fail_on_dataloss", "dont_retry"}
)


def without(meta: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name not in names}


def for_another_spelling(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``meta`` of another spelling: that of the first without traces of its download."""
    return without(meta, _OF_ONE_SPELLING) | {SPELLING: True}


def depth_of(meta: Mapping[str, Any]) -> int:
    """Return the depth of a request, which is stored in its ``meta``."""
    depth = meta.get("depth", 0)
    return min(depth, MAX_DEPTH) if isinstance(depth, int) and depth > 0 else 0
