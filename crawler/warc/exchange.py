"""A request and its answer, and what a WARC file says of them besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

Headers = tuple[tuple[bytes, bytes], ...]

PAGE, OTHER = "page", "other"

KIND_FIELD = "X-Crawl-Kind"
"""Of a response: ``page`` is one that the crawl judged, ``other`` is robots.txt, a sitemap and so
on. The standard lets writers add fields of their own."""

DEPTH_FIELD = "X-Crawl-Depth"
"""Of a page: how many links led there."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked and what came, as near to the wire as the crawler sees it.

    Attributes:
        at: When it was asked, in UTC.
        body: As it was transferred, but for the chunks of a chunked answer: compressed.
        address: Of the server.
        truncated: Why there is no more of the body, as ``WARC-Truncated`` has it.
    """

    url: str
    at: datetime
    status: int
    headers: Headers
    body: bytes
    method: str = "GET"
    request_headers: Headers = ()
    request_body: bytes = b""
    protocol: str = "HTTP/1.1"
    address: str | None = None
    truncated: str | None = None
    kind: str = OTHER
    depth: int = 0


class Recorded(NamedTuple):
    """A written response, so that more can be said of it."""

    id: str
    url: str
    date: str


class OriginalRecord(NamedTuple):
    """The response that holds a payload."""

    url: str
    date: str
    digest: str
