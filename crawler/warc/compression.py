"""Read the lines and contents of WARC files, however they are compressed, in bounded memory."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from functools import partial
from gzip import BadGzipFile, GzipFile
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import zstandard
from warcio.archiveiterator import WARCIterator
from warcio.bufferedreaders import ChunkedDataReader, DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException
from warcio.utils import BUFF_SIZE

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord

PIECE_BYTES = 1 << 16
_FRAME_BYTES = 1 << 9
"""Unpack this many bytes of zstd at once, which may become 16 MB."""

_HEAD_BYTES = 1 << 21
"""Read at most this many bytes of lines of a record: its head, that of its message, blank ones.

A line counts as ``_LINE_BYTES`` at least, for the time that it takes. It is eight times
``CRAWL_MAX_HEADER_BYTES``.
"""
_LINE_BYTES = 16

_DICTIONARY_BYTES = 1 << 24
PEEKED_BYTES = 1 << 8
"""See by this many bytes of a gzip member or a frame of zstd whether a record begins there."""

BROKEN = (
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

VERSION = b"WARC/"
_PLAIN, _GZIP, _ZSTD = b"\nWARC/", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""The second to fourth bytes of a zstd frame that holds no data of the stream."""

_DICTIONARY = b"\x5d" + _SKIPPABLE
"""The first bytes of a file in zstd whose first frame is the dictionary of the others."""


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
    layout = layout_of(file)
    if layout.magic == _PLAIN or _is_by_record(file, layout):
        return None
    file.seek(0)
    whole = TemporaryFile()  # noqa: SIM115 - the caller closes it
    damage = None
    try:
        whole.writelines(iter(partial(layout.stream(file).read1, PIECE_BYTES), b""))
        whole.flush()
    except (*BROKEN, BadGzipFile) as error:
        damage = f"damaged after {whole.tell():,} bytes of its content: {in_words(error)}"
    except BaseException:
        whole.close()
        raise
    return Unpacked(whole, damage)


class RecordLayout(NamedTuple):
    """Compression of the records of a file.

    Attributes:
        magic: The bytes by which the beginning of a record is found.
        first: Offset of the first record.
        opener: Opens frames of zstd; None of any other file.
    """

    magic: bytes
    first: int = 0
    opener: zstandard.ZstdDecompressor | None = None

    def records(self, file: BinaryIO) -> WARCIterator:
        records = _Records(file)
        records.reader = _Reader(file, self.opener)
        return records

    def may_begin(self, data: bytes) -> bool:
        """Return whether a record may begin with a member or frame that begins with the data."""
        try:
            if self.magic == _GZIP:
                opened = zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(data, len(VERSION))
            elif self.opener is not None:
                opened = self.opener.decompressobj().decompress(data)[: len(VERSION)]
            else:
                return True
        except (zlib.error, zstandard.ZstdError):
            return False
        return VERSION.startswith(opened)  # of a long table of codes nothing is unpacked yet

    def stream(self, file: BinaryIO) -> Any:
        if self.opener is None:
            return GzipFile(fileobj=file)
        return self.opener.stream_reader(file, read_size=_FRAME_BYTES, read_across_frames=True)


def layout_of(file: BinaryIO) -> RecordLayout:
    file.seek(0)
    head = file.read(PIECE_BYTES)
    if head.startswith(_DICTIONARY):
        return _with_dictionary(file, *struct.unpack("<I", head[4:8]))
    # Of a file that is damaged at its beginning, the next record tells.
    places = {magic: (b"\n" + head).find(magic) for magic in (_PLAIN, _GZIP, _ZSTD)}
    magic = min(((at, magic) for magic, at in places.items() if at >= 0), default=(0, _PLAIN))[1]
    return RecordLayout(magic, 0, zstandard.ZstdDecompressor() if magic == _ZSTD else None)


def begins_as_archive(file: BinaryIO) -> bool:
    """Return whether the first bytes of a file are of WARC, gzip or zstd, or there are none yet."""
    begin = file.read(len(VERSION))
    is_packed = begin.startswith((_GZIP, _ZSTD)) or begin[1:4] == _SKIPPABLE
    return is_packed or VERSION.startswith(begin)


def _with_dictionary(file: BinaryIO, length: int) -> RecordLayout:
    file.seek(len(_DICTIONARY) + 4)
    dictionary = file.read(min(length, _DICTIONARY_BYTES))
    opener = zstandard.ZstdDecompressor()
    try:
        if dictionary.startswith(_ZSTD):
            dictionary = opener.stream_reader(dictionary).read(_DICTIONARY_BYTES)
        known = zstandard.ZstdCompressionDict(dictionary)
        opener = zstandard.ZstdDecompressor(dict_data=known)
    except zstandard.ZstdError:
        pass  # no record can be read without it, which is said of the first one
    return RecordLayout(_ZSTD, len(_DICTIONARY) + 4 + length, opener)


def _is_by_record(file: BinaryIO, layout: RecordLayout) -> bool:
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
    except (*BROKEN, StopIteration):
        return True


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]  # warcio has no types
    """warcio's reader of compressed records, of zstd too, which bounds lines between contents."""

    def __init__(self, file: BinaryIO, opener: zstandard.ZstdDecompressor | None) -> None:
        self._opener = opener
        self.lines_bytes = 0
        self.block_size: int
        super().__init__(file, block_size=_FRAME_BYTES)

    def _init_decomp(self, decomp_type: str) -> None:
        super()._init_decomp(decomp_type)
        if self._opener is not None:
            self.decompressor = _Frame(self._opener)

    def _decompress(self, data: bytes) -> bytes:
        """Decompress what was read, unless a record that is not compressed begins with it.

        warcio takes all that is damaged for such records, or reads the rest of the file for each.
        """
        if self._opener is None:  # little where it breaks at once
            self.block_size = min(2 * self.block_size, BUFF_SIZE)
        if self.num_block_read == 0 and data.startswith(VERSION):
            self.decompressor = None  # type: ignore[assignment]  # as warcio has it
        return data if self.decompressor is None else bytes(self.decompressor.decompress(data))

    def readline(self, length: int | None = None) -> bytes:
        """Read a line; warcio's own ends within long ones where it is given a length."""
        left = _HEAD_BYTES - self.lines_bytes
        if left <= 0:
            raise ValueError(f"it has lines of more than {_HEAD_BYTES >> 20} MiB")
        wanted, pieces = left if length is None else min(length, left), [b""]
        while wanted > 0 and not pieces[-1].endswith(b"\n"):
            self._fillbuff()
            if self.empty():
                break
            pieces.append(self.buff.readline(wanted))
            wanted -= len(pieces[-1])
        line = b"".join(pieces)
        self.lines_bytes += max(len(line), _LINE_BYTES)
        return line

    def read(self, length: int | None = None) -> bytes:
        self.lines_bytes = 0
        return bytes(super().read(length))


class _Records(WARCIterator):  # type: ignore[misc]
    """warcio's iterator, which bounds the head of each record."""

    def _next_record(self, next_line: bytes | None) -> ArcWarcRecord:
        self.reader.lines_bytes = 0
        return super()._next_record(next_line)


class _Frame:
    """One frame with data, and frames without any before it, as ``zlib`` has a member of gzip."""

    def __init__(self, opener: zstandard.ZstdDecompressor) -> None:
        self._opener = opener
        self._stream = opener.decompressobj()
        self._is_empty = True
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    def decompress(self, data: bytes) -> bytes:
        if self.eof:
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


class ChunkTooLargeError(Exception):
    """A chunk is larger than a payload may be."""


class Chunks(ChunkedDataReader):  # type: ignore[misc]
    """warcio's reader of chunks, each of which it has in memory as a whole."""

    def __init__(self, raw: Any, max_bytes: int) -> None:
        super().__init__(raw)
        self._max_bytes = max_bytes

    def _try_decode(self, length_header: bytes) -> None:
        with suppress(ValueError):  # warcio tells then what is no chunk
            if int(length_header.split(b";")[0], 16) > self._max_bytes:
                raise ChunkTooLargeError
        super()._try_decode(length_header)


def next_record(file: BinaryIO, at: int, layout: RecordLayout) -> int | None:
    """Return the offset where the next record may begin, or None."""
    magic, data = layout.magic, b""
    piece_bytes = 4 * PEEKED_BYTES  # it is often near; as far as not, more is read at once
    while True:
        file.seek(at + len(data))
        piece = file.read(piece_bytes)
        data += piece
        found = data.find(magic)
        while found >= 0 and (len(data) - found >= PEEKED_BYTES or not piece):
            if layout.may_begin(data[found : found + PEEKED_BYTES]):
                return at + found + magic.startswith(b"\n")
            found = data.find(magic, found + 1)
        if not piece:
            return None
        rest = found if found >= 0 else max(0, len(data) - len(magic) + 1)
        at, data = at + rest, data[rest:]
        piece_bytes = min(2 * piece_bytes, PIECE_BYTES)


def in_words(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    if any("non-chunked gzip" in line for line in lines):
        return "several records are compressed as one; try: warcio recompress"
    if isinstance(error, StatusAndHeadersParserException | ArchiveLoadFailed):
        return "no record of WARC begins there"
    return lines[0].strip() if lines else "it breaks off"


def part_of(file: io.IOBase | BinaryIO, start: int, length: int) -> BinaryIO:
    """Return a part of a file as a file of its own, which closes the other one with itself."""
    return cast("BinaryIO", io.BufferedReader(_Window(cast("BinaryIO", file), start, length)))


class _Window(io.RawIOBase):
    """A part of a file, readable as a file of its own."""

    def __init__(self, file: BinaryIO, start: int, length: int) -> None:
        self._file, self._start, self._length = file, start, length
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # of bytes
        wanted = max(0, min(len(buffer), self._length - self._at))
        self._file.seek(self._start + self._at)
        data = self._file.read(wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
