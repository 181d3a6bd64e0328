"""Define a request with its answer, and the fields of our own for WARC records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

Headers = tuple[tuple[bytes, bytes], ...]

PAGE, OTHER = "page", "other"

KIND_FIELD = "X-Crawl-Kind"
"""Name of the field with the kind of a response, a field of our own as the standard allows.

``page`` is an answer that the crawl judged, ``other`` is robots.txt, a sitemap and so on.
"""

DEPTH_FIELD = "X-Crawl-Depth"
"""Name of the field with the number of links from a seed to a page."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, as near to the wire as the crawler sees them.

    Attributes:
        at: Time of the request, in UTC.
        body: Body as it was transferred, compressed, but without chunks.
        address: IP address of the server.
        truncated: Reason for a cut body, a value of ``WARC-Truncated``.
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
    """The identity of a written response, to which further records can refer."""

    id: str
    url: str
    date: str


class OriginalRecord(NamedTuple):
    """The response that holds a payload."""

    url: str
    date: str
    digest: str
