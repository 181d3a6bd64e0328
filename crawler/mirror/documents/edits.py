"""Record the edits of a body, so that they can be undone byte for byte.

A patch is empty without an edit. Otherwise it is zstd over one record for each edit, in the order
of the bytes: three varints (bytes since the end of the last edit, length of the new bytes, length
of the old ones), and the old bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPRESS = zstandard.ZstdCompressor(level=3).compress
_MORE = 0x80


class Edit(NamedTuple):
    """The replacement of the bytes from ``start`` to ``end``, which are equal for an insertion."""

    start: int
    end: int
    replacement: bytes


class Rewritten(NamedTuple):
    """A body after its edits, and the patch for ``undo``."""

    body: bytes
    patch: bytes


class PatchError(ValueError):
    """The patch does not fit the given body, or is no patch."""


def apply_edits(body: bytes, edits: Iterable[Edit]) -> Rewritten:
    """Apply edits that do not overlap, in any order; those without effect are left out.

    Complexity: O(length + edits * log(edits)).
    """
    parts: list[bytes] = []
    records = bytearray()
    at = 0
    for start, end, replacement in sorted(edits):
        old = body[start:end]
        if old == replacement:
            continue
        parts += body[at:start], replacement
        for number in (start - at, len(replacement), len(old)):
            _put(records, number)
        records += old
        at = end
    if not parts:
        return Rewritten(body, b"")
    parts.append(body[at:])
    return Rewritten(b"".join(parts), _COMPRESS(bytes(records)))


def undo(body: bytes, patch: bytes) -> bytes:
    """Return the bytes that were served.

    Raises:
        PatchError: The patch does not belong to this body.
    """
    if not patch:
        return body
    try:
        records = zstandard.ZstdDecompressor().decompress(patch)
    except zstandard.ZstdError as error:
        raise PatchError(f"a patch of {len(patch)} bytes is damaged: {error}") from None
    parts: list[bytes] = []
    at = place = 0
    while place < len(records):
        unchanged, place = _take(records, place)
        new, place = _take(records, place)
        old, place = _take(records, place)
        if at + unchanged + new > len(body) or place + old > len(records):
            raise PatchError(f"a patch reaches beyond the {len(body)} bytes of its body")
        parts += body[at : at + unchanged], records[place : place + old]
        at += unchanged + new
        place += old
    return b"".join([*parts, body[at:]])


def _put(records: bytearray, number: int) -> None:
    while number >= _MORE:
        records.append(number & 0x7F | _MORE)
        number >>= 7
    records.append(number)


def _take(records: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while place < len(records):
        byte = records[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < _MORE:
            return number, place
        shift += 7
    raise PatchError("a patch ends within a number")
