"""Make records of WARC/1.1 (ISO 28500:2017) from exchanges."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import responses
from io import BytesIO
from typing import TYPE_CHECKING, AnyStr, NamedTuple
from urllib.parse import urlsplit

from warcio.recordbuilder import RecordBuilder
from warcio.statusandheaders import StatusAndHeaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import BinaryIO

    from warcio.recordloader import ArcWarcRecord

Headers = tuple[tuple[bytes, bytes], ...]

PAGE, OTHER = "page", "other"

KIND_FIELD = "X-Crawl-Kind"
"""Name of the field with the kind of a response, a field of our own as the standard allows.

``page`` is an answer that the crawl judged, ``other`` is robots.txt, a sitemap and so on.
"""

DEPTH_FIELD = "X-Crawl-Depth"
"""Name of the field with the number of links from a seed to a page."""

VERSION = "WARC/1.1"
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

# warcio, and so every tool that is made with it, takes a record of another one for damaged.
_PROTOCOLS = frozenset({"HTTP/1.0", "HTTP/1.1"})

_builder = RecordBuilder(warc_version=VERSION)
_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, as near to the wire as the crawler sees them.

    Attributes:
        at: Time of the request, in UTC.
        headers: Headers of the answer, in the server's spelling and order where they are known.
        status_line: First line of the answer, if it is known.
        request_line: First line of the request, if it is known.
        body: Body as it was transferred, compressed, but without chunks.
        file: File with the whole of a large body, of which ``body`` is the beginning.
        address: IP address of the server.
        truncated: Reason for a cut body, a value of ``WARC-Truncated``.
    """

    url: str
    at: datetime
    status: int
    headers: Headers
    body: bytes
    status_line: bytes | None = None
    method: str = "GET"
    request_headers: Headers = ()
    request_line: bytes | None = None
    request_body: bytes = b""
    protocol: str = "HTTP/1.1"
    address: str | None = None
    truncated: str | None = None
    kind: str = OTHER
    depth: int = 0
    file: BinaryIO | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has a body, and all of it."""
        return bool(self.body) and self.truncated is None

    def field(self, name: bytes) -> str:
        """Return a header of the answer by its name in small letters, empty without it."""
        found = (value for header, value in self.headers if header.lower() == name)
        return next(found, b"").decode("latin-1").strip()

    @property
    def body_bytes(self) -> int:
        """Bytes of the whole body."""
        return len(self.body) if self.file is None else os.fstat(self.file.fileno()).st_size

    def stream(self) -> BinaryIO:
        """Return the body, to be read from its start."""
        if self.file is None:
            return BytesIO(self.body)
        self.file.seek(0)
        return self.file


class Recorded(NamedTuple):
    """The identity of a written response, to which further records can refer."""

    id: str
    url: str
    date: str


class RecordPlace(NamedTuple):
    """The place of a record: the name of its file, and offset and length of its gzip member."""

    file: str
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


class OriginalRecord(NamedTuple):
    """The response that holds a payload, or another record that is written once."""

    url: str
    date: str
    digest: str
    place: RecordPlace


class RawHead(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """A head that is written byte for byte.

    warcio would percent-encode non-ASCII characters, which changes the server's bytes.
    """

    def __init__(self, first_line: bytes, headers: Headers) -> None:
        super().__init__(first_line.decode("latin-1"), headers)
        lines = [first_line, *(name + b": " + value for name, value in headers)]
        self._raw = b"".join(line.translate(_LINE_BREAKS) + b"\r\n" for line in lines) + b"\r\n"

    def compute_headers_buffer(self, header_filter: object = None) -> None:
        """Set the bytes of the head; warcio calls it before it writes."""
        self.headers_buff = self._raw


def is_as_long_as_declared(headers: Iterable[tuple[AnyStr, AnyStr]], body_bytes: int) -> bool:
    """Return whether a body has all the bytes that the head of its answer promised.

    What ended the transfer of such a body, such as a limit or a lost connection, took nothing away.
    """
    told = {_text(name).strip().lower(): _text(value).strip() for name, value in headers}
    return "transfer-encoding" not in told and told.get("content-length") == str(body_bytes)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def payload_digest(content: bytes | BinaryIO) -> str:
    """Return the SHA-1 in base 32, as WARC files have it by custom; a file is read in pieces."""
    stream = BytesIO(content) if isinstance(content, bytes) else content
    sha1 = partial(hashlib.sha1, usedforsecurity=False)
    made = hashlib.file_digest(stream, sha1)  # type: ignore[arg-type]  # BinaryIO has readinto
    return "sha1:" + base64.b32encode(made.digest()).decode("ascii")


def warc_date(at: datetime) -> str:
    """Return a time in UTC, to the microsecond."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def warcinfo(filename: str, about: Mapping[str, str]) -> ArcWarcRecord:
    return _builder.create_warcinfo_record(filename, about)


def response(exchange: Exchange, digest: str) -> ArcWarcRecord:
    fields = {**_fields(exchange), "WARC-Payload-Digest": digest}
    return _builder.create_warc_record(
        exchange.url,
        "response",
        exchange.stream(),
        exchange.body_bytes,
        warc_headers_dict=fields,
        http_headers=_answer_head(exchange),
    )


def revisit(exchange: Exchange, digest: str, original: OriginalRecord) -> ArcWarcRecord:
    """Make the record of an answer whose body is in an earlier record.

    Of an answer with status 304 its block is empty: players take status and headers from a revisit
    record that has them, and would show an empty 304. Without them they take those of the record
    that it refers to.

    Args:
        exchange: Exchange with the body of an earlier one, or with status 304.
        digest: Digest of the payload that it refers to; of a 304 that of ``original`` counts.
        original: Record with the payload.
    """
    is_unchanged = exchange.status == HTTPStatus.NOT_MODIFIED
    fields = {
        **_fields(exchange),
        "WARC-Profile": NOT_MODIFIED if is_unchanged else IDENTICAL_PAYLOAD,
        "WARC-Refers-To-Target-URI": original.url,
        "WARC-Refers-To-Date": original.date,
        "WARC-Payload-Digest": original.digest if is_unchanged else digest,
    }
    head = None if is_unchanged else _answer_head(exchange)
    return _record("revisit", exchange.url, fields, head, b"")


def head_fields(exchange: Exchange) -> Iterable[tuple[str, str]]:
    """Yield the head of an answer as the fields of a metadata record."""
    yield "http-status-line", _status_line(exchange)
    for name, value in exchange.headers:
        yield f"http-header-{name.decode('latin-1')}", value.decode("latin-1")


def request(exchange: Exchange, answer: ArcWarcRecord) -> ArcWarcRecord:
    """Make the record of the request, which refers to its answer."""
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    made = f"{exchange.method} {target} HTTP/1.1".encode("latin-1", "replace")
    first_line = exchange.request_line or made
    headers = exchange.request_headers
    if not any(name.lower() == b"host" for name, _ in headers):
        host = parts.netloc.rpartition("@")[2].encode("latin-1", "replace")
        headers = ((b"Host", host), *headers)
    fields = {
        "WARC-Date": warc_date(exchange.at),
        "WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID"),
    }
    return _record(
        "request", exchange.url, fields, RawHead(first_line, headers), exchange.request_body
    )


def metadata(about: Recorded, fields: Iterable[tuple[str, str]]) -> ArcWarcRecord:
    """Make a metadata record about a response, as ``application/warc-fields``."""
    lines = [f"{name}: {' '.join(value.split())}\r\n" for name, value in fields]
    headers = {"WARC-Date": about.date, "WARC-Concurrent-To": about.id}
    return _record("metadata", about.url, headers, None, "".join(lines).encode())


def resource(name: str, at: datetime, content: bytes, content_type: str) -> ArcWarcRecord:
    """Make a resource record, of what no HTTP answer brought.

    Args:
        name: URI of the resource: ``urn:view:URL`` of a page's picture, as archives of browsers
            have it, or ``dns:HOST`` of an address, as the standard has it.
        at: Time at which it was made, in UTC.
        content: Its bytes.
        content_type: Their type.
    """
    fields = {
        "WARC-Date": warc_date(at),
        "WARC-Payload-Digest": payload_digest(content),
        "Content-Type": content_type,
    }
    return _record("resource", name, fields, None, content)


def recorded(record: ArcWarcRecord) -> Recorded:
    """Return the identity of a record, to which later records can refer."""
    field = record.rec_headers.get_header
    return Recorded(field("WARC-Record-ID"), field("WARC-Target-URI"), field("WARC-Date"))


def _record(
    kind: str, url: str, fields: dict[str, str], head: RawHead | None, body: bytes
) -> ArcWarcRecord:
    return _builder.create_warc_record(
        url, kind, BytesIO(body), len(body), warc_headers_dict=fields, http_headers=head
    )


def _fields(exchange: Exchange) -> dict[str, str]:
    fields = {"WARC-Date": warc_date(exchange.at), KIND_FIELD: exchange.kind}
    if exchange.kind == PAGE:
        fields[DEPTH_FIELD] = str(exchange.depth)
    if exchange.address is not None:
        fields["WARC-IP-Address"] = exchange.address
    if exchange.truncated is not None:
        fields["WARC-Truncated"] = exchange.truncated
    return fields


def _answer_head(exchange: Exchange) -> RawHead:
    first_line = _status_line(exchange).encode("latin-1", "replace")
    return RawHead(first_line, tuple(_told(exchange)))


def _status_line(exchange: Exchange) -> str:
    told = exchange.status_line or b""
    if told.partition(b" ")[0].decode("latin-1") in _PROTOCOLS:
        return told.decode("latin-1")
    protocol = exchange.protocol if exchange.protocol in _PROTOCOLS else "HTTP/1.1"
    return f"{protocol} {exchange.status} {responses.get(exchange.status, '')}".strip()


def _told(exchange: Exchange) -> Iterable[tuple[bytes, bytes]]:
    """Yield the headers, with those renamed that are wrong for the stored body."""
    has_other_length = exchange.status != HTTPStatus.NOT_MODIFIED and exchange.method != "HEAD"
    for name, value in exchange.headers:
        lower = name.lower()
        is_false = lower == b"transfer-encoding" or (
            lower == b"content-length"
            and has_other_length
            and value.strip() != b"%d" % exchange.body_bytes
        )
        yield (b"X-Orig-" + name if is_false else name), value
