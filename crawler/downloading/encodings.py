"""Decompress bodies at a bounded cost, whatever their bytes are."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import brotli  # type: ignore[import-untyped]

from crawler.downloading.compressed_streams import (
    GZIP_MAGIC,
    OPENERS,
    STEP_BYTES,
    CompressedStream,
    ZlibStream,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MAGIC_BYTES = 4

# One within the other. A gzip file can be made that opens to itself, as often as it is asked to.
_MAX_LAYERS = 4
# One after the other. bgzip makes one of each 64 KiB; a million empty ones are an attack. More than
# these open to so many bytes each.
_MAX_MEMBERS = 2_000
_MEMBER_BYTES = 2**12
_NO_CODINGS = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "chunked"})
_PACKED_NAME = re.compile(r"\.t?gz\Z", re.IGNORECASE)
_PACKED_TYPES = frozenset(
    "application/gzip application/x-gzip application/x-tar application/x-gtar application/x-tgz"
    " application/x-compressed application/octet-stream binary/octet-stream".split()
) | {""}

_START_BYTES = 2**12
"""Judge a body by this many of its first bytes."""

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
            stream.process(start, output_buffer_limit=STEP_BYTES)
        except brotli.error:
            return False
        return is_part or bool(stream.is_finished())
    for bits in _DEFLATE_BITS:
        inflater = zlib.decompressobj(bits)
        with suppress(zlib.error):
            inflater.decompress(start, STEP_BYTES)
            return not inflater.unused_data and (is_part or inflater.eof)
    return False
