"""Decompress bodies at a bounded cost, whatever their bytes are."""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import brotli  # type: ignore[import-untyped]
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

GZIP_MAGIC = b"\x1f\x8b"
_MAGIC_BYTES = 4
_GZIP_MEMBER = re.compile(GZIP_MAGIC)
# Of a frame, or of one that is skipped: pzstd writes such a one before each of 8 MB.
_ZSTD_MEMBER = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

# Errors of a decoder that met damage, also undocumented ones: zlib.error, brotli.error,
# ZstdError, and MemoryError for a window that cannot be had.
_DAMAGE = (zlib.error, brotli.error, zstandard.ZstdError, MemoryError)
# RFC 9659: the window of a zstd stream in HTTP fits in 8 MiB.
_ZSTD_WINDOW_BYTES = 2**23

# One within the other. A gzip file can be made that opens to itself, as often as it is asked to.
_MAX_LAYERS = 4
# One after the other. bgzip makes one of each 64 KiB; a million empty ones are an attack. More than
# these open to so many bytes each.
_MAX_MEMBERS = 2_000
_MEMBER_BYTES = 2**12
# A few bytes of brotli may open to a gigabyte, which comes in such steps.
_STEP_BYTES = 2**20
# Of a longer brotli stream with more bytes after its end, the last piece is lost.
_MAX_REPEATED_BYTES = 2**25
_NO_CODINGS = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "chunked"})
_PACKED_NAME = re.compile(r"\.t?gz\Z", re.IGNORECASE)
_PACKED_TYPES = frozenset(
    "application/gzip application/x-gzip application/x-tar application/x-gtar application/x-tgz"
    " application/x-compressed application/octet-stream binary/octet-stream".split()
) | {""}

_START_BYTES = 2**12
"""Judge a body by so many bytes."""

_DEFLATE_BITS = 15, -15
"""Windows of deflate with the header of zlib, and without it, as some servers send it."""

_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.IGNORECASE)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
# PDF, pictures, ZIP, sounds, fonts, gzip, zstd.
_FILES = (
    *(b"%PDF-", b"\x89PNG\r\n", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"RIFF", b"wOF"),
    *(b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"),
)
# A longer text has these, whatever its charset; bytes that were changed one by one may have none.
_BETWEEN_WORDS = re.compile(rb'[\s",]')
# Of so many compressed bytes, one in a trillion has none that stands in no text.
_CLEAR_BYTES = 2**8


class AnswerError(Exception):
    """The answer is not taken; the message says why in a few words."""


class DamagedBodyError(AnswerError):
    """The body cannot be decompressed."""


class TooLargeError(AnswerError):
    """The body is larger than allowed when decompressed."""


class HeadTooLargeError(AnswerError):
    """The status line and headers together are larger than allowed."""


class CompressedStream(ABC):
    """One compressed stream, from its start to its end.

    Attributes:
        piece_bytes: Bytes that may be fed at a time.
        has_more: Whether more of the pieces so far can be had, by feeding nothing.
        damage: Description of the damage, None without any.
    """

    piece_bytes = 2**14

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.has_more = False
        self.damage: str | None = None

    @property
    def is_over(self) -> bool:
        return bool(self._stream.eof)

    @property
    def rest(self) -> int:
        """Number of bytes of the last piece after the end of the stream."""
        return len(self._stream.unused_data)

    @abstractmethod
    def feed(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece to little more than ``room`` bytes; output beyond that is lost."""


class ZlibStream(CompressedStream):
    """A gzip, zlib or deflate stream."""

    def feed(self, piece: bytes, room: int) -> bytes:
        before = self._stream.copy()
        try:
            return bytes(self._stream.decompress(piece, room))
        except zlib.error as error:
            # It withholds the output before the damage unless it is fed byte by byte.
            self.damage = str(error)
            return b"".join(_up_to_damage(before, piece))[:room]


def _up_to_damage(stream: Any, piece: bytes) -> Iterator[bytes]:
    try:
        for at in range(len(piece)):
            yield stream.decompress(piece[at : at + 1])
    except zlib.error:
        return


class ZstdStream(CompressedStream):
    """A zstd stream; a frame that wants a larger window than browsers give is damaged."""

    # A block of four bytes opens to 128 KiB, and there is no way to ask for less of it.
    piece_bytes = 2**9

    def feed(self, piece: bytes, room: int) -> bytes:
        try:
            return bytes(self._stream.decompress(piece))
        except _DAMAGE as error:
            self.damage = str(error)
            return b""


class BrotliStream(CompressedStream):
    """A brotli stream.

    The decoder takes bytes after the end for damage, and withholds the last piece then. A piece
    that failed is decompressed once more, byte by byte, to find the end of the stream: at most
    twice the work, since that happens once.
    """

    rest = 0

    def __init__(self) -> None:
        super().__init__(brotli.Decompressor())
        self._fed: list[bytes] = []
        self._fed_bytes = 0
        self._piece = b""
        self._opened_bytes = 0

    @property
    def is_over(self) -> bool:
        return self.damage is None and bool(self._stream.is_finished())

    def feed(self, piece: bytes, room: int) -> bytes:
        if piece:
            self._begin(piece)
        max_bytes = min(room, _STEP_BYTES)
        try:
            opened = bytes(self._stream.process(piece, output_buffer_limit=max_bytes))
        except _DAMAGE as error:
            self.has_more = False
            if self._fed_bytes <= _MAX_REPEATED_BYTES:
                return self._to_the_end(room)
            self.damage = str(error)
            return b""
        self.has_more = _has_more(self._stream, opened, max_bytes)
        self._opened_bytes += len(opened)
        return opened

    def _begin(self, piece: bytes) -> None:
        self._fed_bytes += len(self._piece)
        if self._fed_bytes <= _MAX_REPEATED_BYTES:
            self._fed.append(self._piece)
        else:
            self._fed.clear()
        self._piece, self._opened_bytes = piece, 0

    def _to_the_end(self, room: int) -> bytes:
        """Decompress what is left of a piece in which the stream ends or is damaged."""
        self._stream = brotli.Decompressor()
        opened = bytearray()
        skipped = self._opened_bytes
        try:
            for earlier in self._fed:
                for _ in _steps(self._stream, earlier):
                    pass
            for at in range(len(self._piece)):
                for step in _steps(self._stream, self._piece[at : at + 1]):
                    opened += step[skipped:]
                    skipped = max(skipped - len(step), 0)
                    if len(opened) >= room:
                        return bytes(opened)
                if self.is_over:
                    break
        except _DAMAGE as error:
            self.damage = str(error)
        return bytes(opened)


def _steps(stream: Any, piece: bytes) -> Iterator[bytes]:
    has_more = True
    while has_more:
        opened = bytes(stream.process(piece, output_buffer_limit=_STEP_BYTES))
        yield opened
        piece, has_more = b"", _has_more(stream, opened, _STEP_BYTES)


def _has_more(stream: Any, opened: bytes, max_bytes: int) -> bool:
    """Return whether a decoder holds output back; it may have taken all of its input then."""
    is_full = len(opened) >= max_bytes and not stream.is_finished()
    return is_full or not stream.can_accept_more_data()


def _zstd_stream() -> CompressedStream:
    opener = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    return ZstdStream(opener.decompressobj())


OPENERS: dict[str, tuple[Callable[[], CompressedStream], re.Pattern[bytes] | None]] = {
    "gzip": (lambda: ZlibStream(zlib.decompressobj(31)), _GZIP_MEMBER),
    "x-gzip": (lambda: ZlibStream(zlib.decompressobj(31)), _GZIP_MEMBER),
    "deflate": (lambda: ZlibStream(zlib.decompressobj(15)), None),
    "br": (BrotliStream, None),
    "zstd": (_zstd_stream, _ZSTD_MEMBER),
}
"""Map each coding to a factory of its stream and to the first bytes of a further stream.

They are None where no further stream may follow.
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """A body without its compression.

    Attributes:
        body: The decompressed bytes.
        is_cut: Whether a stream breaks off, or is damaged from some place on.
        is_as_it_came: Whether a coding was declared that the body does not have.
    """

    body: bytes
    is_cut: bool = False
    is_as_it_came: bool = False


def codings(headers: Iterable[str]) -> list[str]:
    """Return the codings that ``Content-Encoding`` names, known or not, the first one first.

    Values that are no coding are left out: ``identity``, ``none``, ``utf-8``.
    """
    names = (name.strip().lower() for header in headers for name in header.split(","))
    return [name for name in names if name not in _NO_CODINGS and not _is_charset(name)]


def is_of_the_file(layers: Sequence[str], url: str, content_type: str, body: bytes) -> bool:
    """Return whether the only coding of an answer is that of the file itself.

    Servers declare one for ``a.tar.gz``, since they know it by its ending, as if it were ``a.tar``.
    """
    declared = content_type.partition(";")[0].strip().lower()
    if list(layers) not in (["gzip"], ["x-gzip"]) or declared not in _PACKED_TYPES:
        return False
    if not _PACKED_NAME.search(urlsplit(url).path):
        return False
    try:
        return zlib.decompressobj(31).decompress(body, len(GZIP_MAGIC)) != GZIP_MAGIC
    except zlib.error:
        return False


def open_body(body: bytes, layers: Sequence[str], max_bytes: int) -> Opened:
    """Undo codings, the last one first.

    Args:
        body: The bytes as they came.
        layers: The codings, as ``codings`` returns them.
        max_bytes: Maximum size of each layer once decompressed.

    Raises:
        DamagedBodyError: Nothing of it can be decompressed, a coding is not known, or there are too
            many.
        TooLargeError: A layer decompresses to more than ``max_bytes``.

    Complexity: O(length + decompressed length), whatever the bytes are.
    """
    opening = Opening(layers, max_bytes)
    opened = b"".join(opening.pieces([body]))
    return Opened(opened, opening.is_cut, opening.is_as_it_came)


class Opening:
    """Undoes the codings of a body that comes in pieces.

    Args:
        layers: The codings, as ``codings`` returns them.
        max_bytes: Maximum size of each layer once decompressed.

    Attributes:
        is_cut: As that of ``Opened``, once all pieces were taken.
        is_as_it_came: Likewise.
    """

    def __init__(self, layers: Sequence[str], max_bytes: int) -> None:
        self.is_cut = False
        self.is_as_it_came = False
        self._layers = layers
        self._max_bytes = max_bytes

    def pieces(self, body: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the decompressed bytes; memory does not grow with them.

        Raises as ``open_body``; what is within ``max_bytes`` comes before that.
        """
        layers, source = self._layers, _Source(body)
        if len(layers) > _MAX_LAYERS:
            raise DamagedBodyError(f"compressed {len(layers)} times, one within the other")
        for coding in reversed(layers):
            if coding in OPENERS and _is_false(coding, source):
                self.is_as_it_came = True
            elif coding in OPENERS:
                source = _Source(self._opened(source, coding))
            # Some servers name what is no coding; browsers take the body as it is.
            elif source.peek(1) and not _can_be_read(source.peek(_START_BYTES)):
                raise DamagedBodyError(f"in a Content-Encoding that is not known: {coding[:40]}")
        yield from source

    def _opened(self, source: _Source, coding: str) -> Iterator[bytes]:
        """Yield the bytes of one layer."""
        further = OPENERS[coding][1]
        room, members, damage = self._max_bytes, 0, None
        while source.peek(1) and (
            not members or (further and further.match(source.peek(_MAGIC_BYTES)))
        ):
            if members >= _MAX_MEMBERS and self._max_bytes - room < members * _MEMBER_BYTES:
                raise DamagedBodyError(f"{coding} of more than {_MAX_MEMBERS:,} small parts")
            stream = _stream_of(coding, source)
            for opened in _run(stream, source, room):
                yield opened[:room]
                room -= len(opened)
                if room < 0:
                    size = self._max_bytes // 2**20
                    raise TooLargeError(f"larger than {size} MB when decompressed")
            members += 1
            damage = stream.damage or (None if stream.is_over else "it breaks off")
            if damage:
                break
        if damage and room == self._max_bytes:
            raise DamagedBodyError(f"damaged {coding}: {damage}")
        self.is_cut = self.is_cut or damage is not None


def _is_false(coding: str, source: _Source) -> bool:
    """Return whether bytes that were declared to have a coding do not have it."""
    member = OPENERS[coding][1]
    if member is not None:
        start = source.peek(_MAGIC_BYTES)
        is_cut = len(start) < _MAGIC_BYTES and not _can_be_read(start)
        return not (member.match(start) or is_cut)
    start = source.peek(_START_BYTES)
    return _can_be_read(start) and not _is_stream(coding, start)


def _stream_of(coding: str, source: _Source) -> CompressedStream:
    stream = OPENERS[coding][0]()
    if coding == "deflate":
        opened = stream.feed(source.peek(stream.piece_bytes), 1)
        is_raw = stream.damage is not None and not opened
        stream = ZlibStream(zlib.decompressobj(_DEFLATE_BITS[is_raw]))
    return stream


def _run(stream: CompressedStream, source: _Source, room: int) -> Iterator[bytes]:
    """Feed a stream to its end or to damage; yield little more than ``room`` bytes."""
    while not (stream.is_over or stream.damage):
        piece = b"" if stream.has_more else source.read(stream.piece_bytes)
        if not piece and not stream.has_more:
            break
        opened = stream.feed(piece, room + 1)
        source.back(piece[len(piece) - stream.rest :])
        if opened:
            room -= len(opened)
            yield opened


class _Source:
    """Bytes that come in pieces, to be read in others."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self._at = 0

    def __iter__(self) -> Iterator[bytes]:
        if self._at < len(self._held):
            yield self._held[self._at :]
        yield from self._pieces

    def peek(self, count: int) -> bytes:
        """Return the next bytes, fewer at the end alone, which stay to be read."""
        while len(self._held) - self._at < count:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._held, self._at = self._held[self._at :] + piece, 0
        return self._held[self._at : self._at + count]

    def read(self, count: int) -> bytes:
        found = self.peek(count)
        self._at += len(found)
        return found

    def back(self, data: bytes) -> None:
        """Take back the last bytes that were read."""
        if len(data) <= self._at:
            self._at -= len(data)
        else:
            self._held, self._at = data + self._held[self._at :], 0


def _is_charset(name: str) -> bool:
    try:
        b"a".decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _can_be_read(start: bytes) -> bool:
    """Return whether a body that begins so is text, or a file of a known kind."""
    if start.startswith((*_WIDE_MARKS, *_FILES)):
        return True
    if not start or _NO_TEXT.search(start):
        return False
    if _MARKUP.match(start) or start.decode(errors="ignore").encode() == start:
        return True
    return len(start) >= _CLEAR_BYTES and bool(_BETWEEN_WORDS.search(start))


def _is_stream(coding: str, start: bytes) -> bool:
    """Return whether bytes that can be read are yet a stream of brotli or deflate.

    Args:
        coding: ``br`` or ``deflate``.
        start: The first ``_START_BYTES`` of a body, or all of a shorter one, which must end with
            the stream: what breaks off and is text at the same time is text.
    """
    is_part = len(start) == _START_BYTES
    if coding == "br":
        stream = brotli.Decompressor()
        try:
            stream.process(start, output_buffer_limit=_STEP_BYTES)
        except brotli.error:
            return False
        return is_part or bool(stream.is_finished())
    for bits in _DEFLATE_BITS:
        inflater = zlib.decompressobj(bits)
        with suppress(zlib.error):
            inflater.decompress(start, _STEP_BYTES)
            return not inflater.unused_data and (is_part or inflater.eof)
    return False
