"""Decompress bodies at a bounded cost, whatever their bytes are."""

from __future__ import annotations

import re
import sys
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import brotli  # type: ignore[import-untyped]
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

# Errors of a decoder that met damage, also undocumented ones: zlib.error, brotli.error,
# ZstdError, and MemoryError for a window that cannot be had.
_DAMAGE = (zlib.error, brotli.error, zstandard.ZstdError, MemoryError)
# RFC 9659: the window of a zstd stream in HTTP fits in 8 MiB.
_ZSTD_WINDOW_BYTES = 2**23

# One within the other. A gzip file can be made that opens to itself, as often as it is asked to.
_MAX_LAYERS = 4
# One after the other. bgzip makes one of each 64 KiB; a million empty ones are an attack.
_MAX_MEMBERS = 2_000
_NO_CODINGS = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "chunked"})
_MARKUP_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.IGNORECASE)


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
        damage: Description of the damage, None without any.
    """

    piece_bytes = 2**14

    def __init__(self, stream: Any) -> None:
        self._stream = stream
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

    @property
    def is_over(self) -> bool:
        return self.damage is None and bool(self._stream.is_finished())

    def feed(self, piece: bytes, room: int) -> bytes:
        try:
            opened = _process(self._stream, piece, room)
        except _DAMAGE:
            return self._to_the_end(piece, room)
        self._fed.append(piece)
        return opened

    def _to_the_end(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece in which the stream ends or is damaged, up to that place."""
        self._stream = brotli.Decompressor()
        opened = bytearray()
        try:
            for earlier in self._fed:
                _process(self._stream, earlier, sys.maxsize)  # as much as it was the first time
            for at in range(len(piece)):
                opened += _process(self._stream, piece[at : at + 1], room - len(opened))
                self.rest = len(piece) - at - 1
                if self.is_over or len(opened) >= room:
                    break
        except _DAMAGE as error:
            self.damage = str(error)
        return bytes(opened)


def _process(stream: Any, piece: bytes, room: int) -> bytes:
    opened: bytes = stream.process(piece, output_buffer_limit=room)
    while len(opened) < room and not stream.can_accept_more_data():
        opened += stream.process(b"", output_buffer_limit=room - len(opened))
    return opened


def _zstd_stream() -> CompressedStream:
    opener = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    return ZstdStream(opener.decompressobj())


OPENERS: dict[str, tuple[Callable[[], CompressedStream], bytes | None]] = {
    "gzip": (lambda: ZlibStream(zlib.decompressobj(31)), GZIP_MAGIC),
    "x-gzip": (lambda: ZlibStream(zlib.decompressobj(31)), GZIP_MAGIC),
    "deflate": (lambda: ZlibStream(zlib.decompressobj(15)), None),
    "br": (BrotliStream, None),
    "zstd": (_zstd_stream, ZSTD_MAGIC),
}
"""Map each coding to a factory of its stream and to the magic bytes of a further stream.

The magic is None where no further stream may follow.
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """A body without its compression.

    Attributes:
        body: The decompressed bytes.
        is_cut: Whether a stream breaks off, or is damaged from some place on.
        is_as_it_came: Whether the body was declared as gzip and is none.
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
    if len(layers) > _MAX_LAYERS:
        raise DamagedBodyError(f"compressed {len(layers)} times, one within the other")
    if body and list(layers) in (["gzip"], ["x-gzip"]) and not body.startswith(GZIP_MAGIC):
        return Opened(body, is_as_it_came=True)
    is_cut = False
    for coding in reversed(layers):
        if not body:
            break
        if coding not in OPENERS:
            # Some servers name what is no coding; browsers take the body as it is.
            if _MARKUP_START.match(body):
                continue
            raise DamagedBodyError(f"in a Content-Encoding that is not known: {coding[:40]}")
        opened = _open(body, coding, max_bytes)
        body, is_cut = opened.body, is_cut or opened.is_cut
    return Opened(body, is_cut)


def _is_charset(name: str) -> bool:
    try:
        b"a".decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _open(body: bytes, coding: str, max_bytes: int) -> Opened:
    new, magic = OPENERS[coding]
    opened = bytearray()
    damage = None
    at = members = 0
    while at < len(body) and (not members or (magic and body.startswith(magic, at))):
        if members == _MAX_MEMBERS:
            raise DamagedBodyError(f"{coding} of more than {_MAX_MEMBERS:,} parts")
        stream = new()
        start, at = at, _run(stream, body, at, opened, max_bytes)
        if stream.damage and not opened and coding == "deflate":
            # Some servers send it without the header of zlib.
            stream = ZlibStream(zlib.decompressobj(-15))
            at = _run(stream, body, start, opened, max_bytes)
        members += 1
        damage = stream.damage or (None if stream.is_over else "it breaks off")
        if damage:
            break
    if damage and not opened:
        raise DamagedBodyError(f"damaged {coding}: {damage}")
    return Opened(bytes(opened), damage is not None)


def _run(stream: CompressedStream, body: bytes, at: int, opened: bytearray, max_bytes: int) -> int:
    """Feed a stream to its end or to damage; return the offset where it ended."""
    while at < len(body) and not (stream.is_over or stream.damage):
        piece = body[at : at + stream.piece_bytes]
        opened += stream.feed(piece, max_bytes - len(opened) + 1)
        if len(opened) > max_bytes:
            raise TooLargeError(f"larger than {max_bytes // 2**20} MB when decompressed")
        at += len(piece)
    return at - stream.rest
