"""Read the whole records of WARC files; report and skip damage."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from warcio.archiveiterator import WARCIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

_MAGIC = b"\x1f\x8b\x08"
_PIECE_BYTES = 1 << 16
_BROKEN = (
    ArchiveLoadFailed,
    StatusAndHeadersParserException,
    zlib.error,
    EOFError,
    ValueError,
    AttributeError,  # of warcio, about records without the fields that they must have
    TypeError,
)


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
    def url(self) -> str:
        return self.field("WARC-Target-URI") or ""

    @property
    def status(self) -> int:
        """The HTTP status, 0 without one."""
        code = self.http.get_statuscode() if self.http is not None else ""
        return int(code) if code.isdecimal() and len(code) == 3 else 0

    def header(self, name: str) -> str | None:
        value: str | None = None if self.http is None else self.http.get_header(name)
        return value


def read_records(
    file: BinaryIO, complain: Callable[[str], None], *, max_bytes: int = 0, start: int = 0
) -> Iterator[WholeRecord]:
    """Read the records of a file, gzipped one by one or not at all.

    Args:
        file: A seekable file.
        complain: Callback for each unreadable place, with a few words.
        max_bytes: Maximum size of a payload that is returned; a larger one is skipped.
        start: Offset of the first record.

    Memory is bounded by the payloads that are returned.
    """
    size = file.seek(0, os.SEEK_END)
    at: int | None = start
    is_said = False
    while at is not None and at < size:
        file.seek(at)
        records = WARCIterator(file)
        try:
            for record in records:
                at = max(at, records.offset)
                yield _whole(record, records, max_bytes)
                is_said = False
            damage = None if records.offset >= size else "it breaks off"
        except _BROKEN as error:
            damage = _in_words(error)
        # warcio's offset falls behind the record where a length is wrong, and below zero
        # in a file that is gzipped as a whole.
        place = max(at, records.offset)
        at = None if damage is None else _next_member(file, place + 1)
        if damage is not None and not is_said:
            rest = "" if at is not None else "; nothing can be read after it"
            complain(f"damaged at byte {place:,}: {damage}{rest}")
            is_said = True


def _whole(record: ArcWarcRecord, records: WARCIterator, max_bytes: int) -> WholeRecord:
    payload = _payload(record, max_bytes)
    if getattr(record.raw_stream, "limit", 0):
        raise EOFError("it breaks off")
    # Reads to the end of the gzip member, where its checksum is verified.
    length = records.get_record_length()
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


def _payload(record: ArcWarcRecord, max_bytes: int) -> bytes | None:
    raw = record.raw_stream
    http = record.http_headers
    coding = None if http is None else http.get_header("Transfer-Encoding")
    # Other programs write chunks as they came.
    is_chunked = (coding or "").strip().lower() == "chunked"
    stream: Any = ChunkedDataReader(raw) if is_chunked else raw
    kept = bytearray()
    while piece := stream.read(_PIECE_BYTES):
        if len(kept) <= max_bytes:
            kept += piece
    while is_chunked and raw.read(_PIECE_BYTES):
        pass
    return bytes(kept) if len(kept) <= max_bytes else None


def _next_member(file: BinaryIO, at: int) -> int | None:
    """Return the offset where the next gzip member may begin, or None."""
    file.seek(at)
    before = b""
    while piece := file.read(_PIECE_BYTES):
        found = (before + piece).find(_MAGIC)
        if found >= 0:
            return at - len(before) + found
        at += len(piece)
        before = piece[-len(_MAGIC) + 1 :]
    return None


def _in_words(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    if any("non-chunked gzip" in line for line in lines):
        return "gzipped as a whole and not record by record; try: warcio recompress"
    return lines[0].strip() if lines else type(error).__name__
