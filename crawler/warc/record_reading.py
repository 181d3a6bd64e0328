"""Read the whole records of WARC files; report and skip damage."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from crawler.warc.compression import (
    BROKEN,
    PEEKED_BYTES,
    PIECE_BYTES,
    VERSION,
    Chunks,
    ChunkTooLargeError,
    begins_as_archive,
    in_words,
    layout_of,
    next_record,
    part_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warcio.archiveiterator import WARCIterator
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from crawler.warc.record_writing import RecordPlace

_WEB = ("http:", "https:")
_ANSWERS = frozenset({"response", "revisit", "resource"})

_AGAIN_BYTES = 1 << 24
"""Read this and twice the size of a file again at most, in search of records after damage."""

_DAMAGED_BYTES = 1 << 24
"""Look this far for a first record in a file without the name of an archive."""

_SHOWN = 200
"""Show at most this many characters of a URL."""


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """A whole record.

    Attributes:
        kind: Value of ``WARC-Type``.
        fields: Fields of the record.
        http: Status line and headers of its HTTP message, if there is one.
        payload: Content after the head, without chunks; None if it is larger than the limit.
        offset: Offset of the compressed record in its file, in bytes.
        length: Length of the compressed record, in bytes.
    """

    kind: str
    fields: StatusAndHeaders
    http: StatusAndHeaders | None
    payload: bytes | None
    offset: int
    length: int

    def field(self, name: str) -> str | None:
        value: str | None = self.fields.get_header(name)
        return value

    @property
    def joined(self) -> list[str]:
        """The identities of the record and of those of its exchange that it names.

        Of a request and its answer, either may name the other.
        """
        names = {"warc-record-id", "warc-concurrent-to"}
        return [value for name, value in self.fields.headers if name.lower() in names]

    @property
    def url(self) -> str:
        return self.field("WARC-Target-URI") or ""

    @property
    def is_answer(self) -> bool:
        """Whether it is, or stands for, what a URL of the web answered."""
        return self.kind in _ANSWERS and self.url[:6].lower().startswith(_WEB)

    @property
    def content_type(self) -> str | None:
        """The declared type of the payload; a resource has no HTTP message to declare it."""
        name = "Content-Type"
        return self.field(name) if self.kind == "resource" else self.header(name)

    @property
    def status(self) -> int:
        """The HTTP status, 0 without one."""
        code = self.http.get_statuscode() if self.http is not None else ""
        return int(code) if code.isdecimal() and len(code) == 3 else 0

    @property
    def method(self) -> str:
        """The method of a request; warcio takes it for the protocol."""
        return (self.http.protocol or "").upper() if self.http is not None else ""

    def header(self, name: str) -> str | None:
        value: str | None = None if self.http is None else self.http.get_header(name)
        return value


def is_archive(file: BinaryIO, *, is_named: bool = False) -> bool:
    """Return whether a file begins as an archive does, or a record can be read after damage.

    Args:
        file: A seekable file.
        is_named: Whether its name is that of an archive; of any other only the beginning is read.
    """
    if begins_as_archive(file):
        return True
    size = file.seek(0, os.SEEK_END)
    looked_at = file if is_named else part_of(file, 0, min(size, _DAMAGED_BYTES))
    return any(True for _ in read_records(looked_at, lambda _: None))


def read_records(
    file: BinaryIO, complain: Callable[[str], None], *, max_bytes: int = 0, start: int = 0
) -> Iterator[WholeRecord]:
    """Read the records of a file, compressed one by one (gzip, zstd) or not at all.

    Args:
        file: A seekable file.
        complain: Callback for each unreadable place and each bad record, with a few words.
        max_bytes: Maximum size of a payload that is returned; a larger one is skipped.
        start: Offset of the first record.

    Memory is bounded by the payloads that are returned, and time by the size of the file: what
    seems to be a record and breaks is searched for others in it only up to ``_AGAIN_BYTES``.
    """
    size = file.seek(0, os.SEEK_END)
    layout = layout_of(file)
    at: int | None = max(start, layout.first)
    is_said = False
    again_bytes = 2 * size + _AGAIN_BYTES
    while at is not None and at < size:
        file.seek(at)
        records = layout.records(file)
        try:
            for record in records:
                at = max(at, records.offset)
                found = _whole(record, records, max_bytes)
                at, is_said = max(at, records.offset), False
                if (lack := _why_bad(found)) is None:
                    yield found
                else:
                    complain(f"bad record at byte {found.offset:,}: {lack}")
            damage = None if records.offset >= size else "it breaks off"
        except BROKEN as error:
            damage = in_words(error)
        # warcio's offset falls behind the record where a length is wrong, lies after it where it
        # is damaged, and below zero in a file that is gzipped as a whole.
        place, reached = at, file.tell()
        again_bytes -= max(0, reached - place)
        after = place + 1 if again_bytes > 0 else max(place + 1, reached)
        at = None if damage is None else next_record(file, after, layout)
        if damage is not None and not is_said:
            rest = "" if at is not None else "; nothing can be read after it"
            complain(f"damaged at byte {place:,}: {damage}{rest}")
            is_said = True


def is_record(file: BinaryIO, place: RecordPlace, url: str, date: str) -> bool:
    """Return whether the whole record of a URL and a time is at a place, by its checksum too."""

    def refuse(what: str) -> None:
        raise EOFError(what)

    try:
        found = next(read_records(part_of(file, place.offset, place.length), refuse), None)
    except (EOFError, OSError):
        return False
    if found is None:
        return False
    told = found.offset, found.length, found.url, found.field("WARC-Date")
    return told == (0, place.length, url, date)


def _whole(record: ArcWarcRecord, records: WARCIterator, max_bytes: int) -> WholeRecord:
    if record.length is None and not records.reader.decompressor:
        raise ValueError("it has no Content-Length")  # all records after it would be its content
    if record.http_headers is None and _is_http(record):
        # warcio looks for it where the scheme is in small letters only.
        record.http_headers = records.loader.http_parser.parse(record.raw_stream)
    if not records.reader.decompressor:
        _check_end(record, records)
    payload = _payload(record, max_bytes)
    if getattr(record.raw_stream, "limit", 0):
        raise EOFError("it breaks off")
    # Reads to the end of the member or frame, where its checksum is verified.
    length = records.get_record_length()
    stream = records.reader.decompressor
    if stream and not (stream.eof or records.next_line):
        raise EOFError("it breaks off")
    if records.next_line and not records.next_line.startswith(b"WARC/"):
        offset = records.get_record_offset()
        raise EOFError(f"the record at byte {offset:,} has a wrong Content-Length")
    return WholeRecord(
        kind=record.rec_type or "",
        fields=record.rec_headers,
        http=record.http_headers,
        payload=payload,
        offset=records.get_record_offset(),
        length=length,
    )


def _check_end(record: ArcWarcRecord, records: WARCIterator) -> None:
    """Check that a record that is not compressed ends where another begins, or the file ends.

    So a false length is no reason to read what it spans.

    Raises:
        EOFError: It does not.
    """
    file, at = records.fh, records.fh.tell()
    end = at - records.reader.rem_length() + record.raw_stream.limit
    if end > file.seek(0, os.SEEK_END):
        file.seek(at)
        raise EOFError("it breaks off")
    file.seek(end)
    after = file.read(PEEKED_BYTES)
    file.seek(at)
    if after.strip() and VERSION not in after:
        raise EOFError("it has a wrong Content-Length")


def _is_http(record: ArcWarcRecord) -> bool:
    """Return whether a record has an HTTP message by its type, its URL and its length."""
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    is_of_web = record.rec_type in {"response", "revisit"} and url[:6].lower().startswith(_WEB)
    return is_of_web and bool(record.length)


def _why_bad(found: WholeRecord) -> str | None:
    """Return what is wrong with a whole record so that it stands for no answer, None of others."""
    if found.kind in _ANSWERS and not found.url:
        return "it has no WARC-Target-URI"
    if not found.is_answer:
        return None
    try:
        parts = urlsplit(found.url)
        _ = parts.port  # read for its check
    except ValueError as error:
        return f"{found.url[:_SHOWN]} is no URL: {error}"
    if not parts.hostname:
        return f"{found.url[:_SHOWN]} has no host"
    if found.kind == "response" and not found.status:
        return f"the answer of {found.url[:_SHOWN]} has no HTTP status"
    return None


def _payload(record: ArcWarcRecord, max_bytes: int) -> bytes | None:
    raw = record.raw_stream
    http = record.http_headers
    coding = None if http is None else http.get_header("Transfer-Encoding")
    # Other programs write chunks as they came.
    is_chunked = (coding or "").strip().lower() == "chunked"
    stream: Any = Chunks(raw, max_bytes) if is_chunked else raw
    kept: bytearray | None = bytearray()
    try:
        while piece := stream.read(PIECE_BYTES):
            if kept is not None:
                kept += piece
                kept = None if len(kept) > max_bytes else kept
    except ChunkTooLargeError:
        kept = None
    while is_chunked and raw.read(PIECE_BYTES):
        pass
    return None if kept is None else bytes(kept)
