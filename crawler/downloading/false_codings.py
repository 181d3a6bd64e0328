"""Tell bodies that have none of the codings without magic bytes from streams that are damaged."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress

import brotli  # type: ignore[import-untyped]

START_BYTES = 2**12
"""Judge a body by so many bytes."""

DEFLATE_BITS = 15, -15
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
_OPENED_BYTES = 2**20


def can_be_read(start: bytes) -> bool:
    """Return whether a body that begins so is text, or a file of a known kind."""
    if start.startswith((*_WIDE_MARKS, *_FILES)):
        return True
    if not start or _NO_TEXT.search(start):
        return False
    if _MARKUP.match(start) or start.decode(errors="ignore").encode() == start:
        return True
    return len(start) >= _CLEAR_BYTES and bool(_BETWEEN_WORDS.search(start))


def is_stream(coding: str, start: bytes) -> bool:
    """Return whether bytes that can be read are yet a stream of brotli or deflate.

    Args:
        coding: ``br`` or ``deflate``.
        start: The first ``START_BYTES`` of a body, or all of a shorter one, which must end with
            the stream: what breaks off and is text at the same time is text.
    """
    is_part = len(start) == START_BYTES
    if coding == "br":
        stream = brotli.Decompressor()
        try:
            stream.process(start, output_buffer_limit=_OPENED_BYTES)
        except brotli.error:
            return False
        return is_part or bool(stream.is_finished())
    for bits in DEFLATE_BITS:
        inflater = zlib.decompressobj(bits)
        with suppress(zlib.error):
            inflater.decompress(start, _OPENED_BYTES)
            return not inflater.unused_data and (is_part or inflater.eof)
    return False
