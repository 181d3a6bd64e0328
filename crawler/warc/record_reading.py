"""Read the whole records of WARC files; report and skip damage."""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from functools import partial
from gzip import BadGzipFile, GzipFile
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

import zstandard
from warcio.archiveiterator import WARCIterator
from warcio.bufferedreaders import ChunkedDataReader, DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

from crawler.warc.sources import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from crawler.warc.record_writing import Place

_PIECE_BYTES = 1 << 16
_FRAME_BYTES = 1 << 9
"""Unpack so many bytes of zstd at once, which may become 16 MB."""

_BROKEN = (
    ArchiveLoadFailed,
    StatusAndHeadersParserException,
    zlib.error,
    zstandard.ZstdError,
    EOFError,
    ValueError,
    OverflowError,  # of a length that fits into no machine word
    AttributeError,  # of warcio, about records without the fields that they must have
    TypeError,
)

_WEB = ("http:", "https:")
_ANSWERS = frozenset({"response", "revisit", "resource"})

_PLAIN, _GZIP, _ZSTD = b"\nWARC/", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""The second to fourth bytes of a zstd frame that holds no data of the stream."""

_DICTIONARY = b"\x5d" + _SKIPPABLE
"""The first bytes of a file in zstd whose first frame is the dictionary of the others."""

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


def read_records(
    file: BinaryIO, complain: Callable[[str], None], *, max_bytes: int = 0, start: int = 0
) -> Iterator[WholeRecord]:
    """Read the records of a file, compressed one by one (gzip, zstd) or not at all.

    Args:
        file: A seekable file.
        complain: Callback for each unreadable place and each bad record, with a few words.
        max_bytes: Maximum size of a payload that is returned; a larger one is skipped.
        start: Offset of the first record.

    Memory is bounded by the payloads that are returned.
    """
    size = file.seek(0, os.SEEK_END)
    layout = _layout(file)
    at: int | None = max(start, layout.first)
    is_said = False
    while at is not None and at < size:
        file.seek(at)
        records = layout.records(file)
        try:
            for record in records:
                at = max(at, records.offset)
                found = _whole(record, records, max_bytes)
                is_said = False
                if (lack := _why_bad(found)) is None:
                    yield found
                else:
                    complain(f"bad record at byte {found.offset:,}: {lack}")
            damage = None if records.offset >= size else "it breaks off"
        except _BROKEN as error:
            damage = _in_words(error)
        # warcio's offset falls behind the record where a length is wrong, and below zero
        # in a file that is gzipped as a whole.
        place = max(at, records.offset)
        at = None if damage is None else _next_record(file, place + 1, layout.magic)
        if damage is not None and not is_said:
            rest = "" if at is not None else "; nothing can be read after it"
            complain(f"damaged at byte {place:,}: {damage}{rest}")
            is_said = True


def is_record(file: BinaryIO, place: Place, url: str, date: str) -> bool:
    """Return whether the whole record of a URL and a time is at a place, by its checksum too."""

    def refuse(what: str) -> None:
        raise EOFError(what)

    try:
        found = next(read_records(part_of(file, place.offset, place.length), refuse), None)
    except (EOFError, OSError):
        return False
    told = (
        (0, 0, "", None)
        if found is None
        else (found.offset, found.length, found.url, found.field("WARC-Date"))
    )
    return told == (0, place.length, url, date)


class Unpacked(NamedTuple):
    """A nameless file with the records of one that was compressed as a whole.

    Attributes:
        file: The file; what can be unpacked of a damaged one is there.
        damage: What is wrong with that, in a few words.
    """

    file: BinaryIO
    damage: str | None


def unpacked(file: BinaryIO) -> Unpacked | None:
    """Unpack a file that is compressed as a whole.

    Returns:
        None where each record is compressed by itself, or none is.

    Raises:
        OSError: There is no room for it.
    """
    layout = _layout(file)
    if layout.magic == _PLAIN or _is_by_record(file, layout):
        return None
    file.seek(0)
    whole = TemporaryFile()  # noqa: SIM115 - the caller closes it
    damage = None
    try:
        whole.writelines(iter(partial(layout.stream(file).read1, _PIECE_BYTES), b""))
        whole.flush()
    except (*_BROKEN, BadGzipFile) as error:
        damage = f"damaged after {whole.tell():,} bytes of its content: {_in_words(error)}"
    except BaseException:
        whole.close()
        raise
    return Unpacked(whole, damage)


class _Layout(NamedTuple):
    """How the records of a file are compressed.

    Attributes:
        magic: The bytes by which the beginning of a record is found.
        first: Offset of the first record.
        opener: Opens frames of zstd; None of any other file.
    """

    magic: bytes
    first: int = 0
    opener: zstandard.ZstdDecompressor | None = None

    def records(self, file: BinaryIO) -> WARCIterator:
        records = WARCIterator(file)
        if self.opener is not None:
            records.reader = _FrameReader(file, self.opener)
        return records

    def stream(self, file: BinaryIO) -> Any:
        if self.opener is None:
            return GzipFile(fileobj=file)
        return self.opener.stream_reader(file, read_size=_FRAME_BYTES, read_across_frames=True)


def _layout(file: BinaryIO) -> _Layout:
    file.seek(0)
    head = file.read(_PIECE_BYTES)
    if head.startswith(_DICTIONARY):
        return _with_dictionary(file, *struct.unpack("<I", head[4:8]))
    # Of a file that is damaged at its beginning, the next record tells.
    places = {magic: (b"\n" + head).find(magic) for magic in (_PLAIN, _GZIP, _ZSTD)}
    magic = min(((at, magic) for magic, at in places.items() if at >= 0), default=(0, _PLAIN))[1]
    return _Layout(magic, 0, zstandard.ZstdDecompressor() if magic == _ZSTD else None)


def _with_dictionary(file: BinaryIO, length: int) -> _Layout:
    file.seek(len(_DICTIONARY) + 4)
    dictionary = file.read(length)
    opener = zstandard.ZstdDecompressor()
    try:
        if dictionary.startswith(_ZSTD):
            dictionary = opener.decompressobj().decompress(dictionary)
        known = zstandard.ZstdCompressionDict(dictionary)
        opener = zstandard.ZstdDecompressor(dict_data=known)
    except zstandard.ZstdError:
        pass  # no record can be read without it, which is said of the first one
    return _Layout(_ZSTD, len(_DICTIONARY) + 4 + length, opener)


def _is_by_record(file: BinaryIO, layout: _Layout) -> bool:
    """Return whether the first record is compressed by itself, or is damaged."""
    file.seek(layout.first)
    records = layout.records(file)
    try:
        record = next(records.the_iter)
        records.read_to_end()
        if not record.raw_stream.limit:
            return not (records.next_line or b"").startswith(b"WARC/")
        # It goes on in the next member or frame, as of bgzip and pzstd, or it breaks off.
        is_over = not records.reader.read_next_member()
        return is_over or bytes(records.reader.readline()).startswith(b"WARC/")
    except (*_BROKEN, StopIteration):
        return True


class _FrameReader(DecompressingBufferedReader):  # type: ignore[misc]  # warcio has no types
    """warcio's reader of compressed records, for frames of zstd."""

    def __init__(self, file: BinaryIO, opener: zstandard.ZstdDecompressor) -> None:
        self._opener = opener
        super().__init__(file, block_size=_FRAME_BYTES)

    def _init_decomp(self, decomp_type: str) -> None:
        self.num_block_read = 0
        self.decomp_type = decomp_type
        self.decompressor = _Frame(self._opener)

    def _decompress(self, data: bytes) -> bytes:
        """Decompress what was read; warcio's own takes what is damaged for plain text."""
        return bytes(self.decompressor.decompress(data))


class _Frame:
    """One frame with data, and frames without any before it, as ``zlib`` has a member of gzip."""

    def __init__(self, opener: zstandard.ZstdDecompressor) -> None:
        self._opener = opener
        self._stream = opener.decompressobj()
        self._is_empty = True
        self.unused_data = b""

    def decompress(self, data: bytes) -> bytes:
        if self._stream.eof:
            self.unused_data += data
            return b""
        opened = self._stream.decompress(data)
        self._is_empty = self._is_empty and not opened
        if self._stream.eof and self._is_empty:
            rest, self._stream = self._stream.unused_data, self._opener.decompressobj()
            return self.decompress(rest) if rest else b""
        self.unused_data = self._stream.unused_data
        return opened

    def flush(self) -> bytes:
        return b""


def _whole(record: ArcWarcRecord, records: WARCIterator, max_bytes: int) -> WholeRecord:
    if record.length is None and not records.reader.decompressor:
        raise ValueError("it has no Content-Length")  # all records after it would be its content
    if record.http_headers is None and _is_http(record):
        # warcio looks for it where the scheme is in small letters only.
        record.http_headers = records.loader.http_parser.parse(record.raw_stream)
    payload = _payload(record, max_bytes)
    if getattr(record.raw_stream, "limit", 0):
        raise EOFError("it breaks off")
    # Reads to the end of the member or frame, where its checksum is verified.
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
    stream: Any = ChunkedDataReader(raw) if is_chunked else raw
    kept = bytearray()
    while piece := stream.read(_PIECE_BYTES):
        if len(kept) <= max_bytes:
            kept += piece
    while is_chunked and raw.read(_PIECE_BYTES):
        pass
    return bytes(kept) if len(kept) <= max_bytes else None


def _next_record(file: BinaryIO, at: int, magic: bytes) -> int | None:
    """Return the offset where the next record may begin, or None."""
    file.seek(at)
    before = b""
    while piece := file.read(_PIECE_BYTES):
        found = (before + piece).find(magic)
        if found >= 0:
            return at - len(before) + found + magic.startswith(b"\n")
        at += len(piece)
        before = piece[-len(magic) + 1 :]
    return None


def _in_words(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    if any("non-chunked gzip" in line for line in lines):
        return "several records are compressed as one; try: warcio recompress"
    if isinstance(error, StatusAndHeadersParserException | ArchiveLoadFailed):
        return "no record of WARC begins there"
    return lines[0].strip() if lines else "it breaks off"
