"""Choose pages by their URL, host, time, status and type, in SQL over the table ``pages``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import split

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMES = ("http", "https")

_canonicalize = Canonicalizer()


class UrlRange(NamedTuple):
    """The canonical URLs from ``first`` on, before ``end``."""

    first: str
    end: str


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


def url_ranges(url: str) -> list[UrlRange]:
    """Return the ranges of the canonical URLs at and below a URL; http and https are the same.

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
    whole = [UrlRange(f"{scheme}://{after}", f"{scheme}://{after}\0") for scheme in _SCHEMES]
    return [*whole, *_beginning_with(f"{after}/"), *_beginning_with(f"{after}?")]


def host_ranges(host: str) -> list[UrlRange]:
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


def _beginning_with(prefix: str) -> Iterator[UrlRange]:
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    for scheme in _SCHEMES:
        yield UrlRange(f"{scheme}://{prefix}", f"{scheme}://{end}")
