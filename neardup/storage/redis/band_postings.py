"""Find the kept texts that share a band of their signatures with a given one.

A *sketch* holds a byte of each value of a signature, the upper byte of a multiplicative hash. Texts
that share a band of their signatures share it in their sketches, by which they are found; and the
number of values in which two sketches differ tells about how similar the texts are.

Reference: Li and Koenig, b-bit minwise hashing, WWW 2010, section 3.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from neardup.features.hashing import GOLDEN
from neardup.features.shingles import distinct
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.storage.redis.postings import append_spilling, packed_number
from neardup.storage.redis.script import Call, Question
from neardup.storage.redis.server import Server

SKETCH_BYTES = CANDIDATE_PERMUTATIONS
MAX_SHARING = 4096
"""The largest number of texts that share a band and are looked at: those that share the most."""

_BANDS, _ROWS = CANDIDATE_BANDING
_BYTE_SHIFT = np.uint64(56)
_BUCKET_SHIFT, _FIELD_SHIFT = 19, 12
_FIELD_MASK = 0x7F
"""The seven bits of a band that are a field: a hash of so few fields is held without a table."""

_CHECK_BYTES = 2
_RECORD = np.dtype([("check", f"<u{_CHECK_BYTES}"), ("low", "<u4"), ("high", "u1")])
BAND_RECORD_BYTES = _RECORD.itemsize
_MAX_LOST = 1e-7


def sketch_of(signature: bytes) -> bytes:
    """Return the sketch of a packed signature, 64 bytes."""
    values = unpacked_signature(signature).astype(np.uint64)
    return (values * GOLDEN >> _BYTE_SHIFT).astype(np.uint8).tobytes()


def are_similar(sketch: bytes, others: NDArray[np.uint8], max_unequal: int) -> NDArray[np.bool_]:
    """Return which sketches share a band with one, and differ in few enough values.

    Args:
        sketch: The one.
        others: (sketches, 64).
        max_unequal: The largest number of values that differ.
    """
    equal = others == np.frombuffer(sketch, np.uint8)
    share_band: NDArray[np.bool_] = equal.reshape(-1, _BANDS, _ROWS).all(axis=2).any(axis=1)
    similar: NDArray[np.bool_] = equal.sum(axis=1) >= SKETCH_BYTES - max_unequal
    similar &= share_band
    return similar


@cache
def max_unequal(min_similarity: float) -> int:
    """Return the number of values in which the sketches of two similar texts may differ.

    The sketches of texts at ``min_similarity`` differ in more values once in 10**7 pairs.
    """
    different, chance = 1.0 - min_similarity, 0.0
    for count in range(SKETCH_BYTES, 0, -1):
        choices = math.comb(SKETCH_BYTES, count)
        chance += choices * different**count * min_similarity ** (SKETCH_BYTES - count)
        if chance > _MAX_LOST:
            return count
    return 0


class RedisBands:
    """Bands of sketches to the numbers of the texts that have them, spread by key over a cluster.

    Keys:
        ``s<band>:<bucket>``: a hash, seven bits of a band to a list of records: the band's last two
        bytes and the number of a text.

    Args:
        server: The server that holds them.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def additions(self, sketch: bytes, number: int) -> list[Call]:
        """Return the calls that hold a text; they do no harm when it is held already."""
        return [
            append_spilling(key, field, check + packed_number(number))
            for key, field, check in self._places(sketch)
        ]

    def questions(self, sketch: bytes) -> list[Question]:
        """Return the commands that ask for texts; ``sharing`` reads their replies."""
        return [("HGET", key, field) for key, field, _ in self._places(sketch)]

    def _places(self, sketch: bytes) -> list[tuple[str, bytes, bytes]]:
        """Return key, field and check of each band."""
        places = []
        for band in range(_BANDS):
            key = sketch[band * _ROWS : (band + 1) * _ROWS]
            value = int.from_bytes(key)
            name = f"{self._server.prefix}s{band}:{value >> _BUCKET_SHIFT:x}"
            field = bytes((value >> _FIELD_SHIFT & _FIELD_MASK,))
            places.append((name, field, key[-_CHECK_BYTES:]))
        return places


def sharing(replies: Sequence[bytes | None], sketch: bytes) -> Ids:
    """Return the numbers of the texts that share a band, those that share the most bands first.

    Of equal ones the lowest number is first; at most ``MAX_SHARING`` are returned, as int64.

    Args:
        replies: The replies to ``RedisBands.questions``.
        sketch: The sketch that was asked for.
    """
    found = [_numbers(reply, sketch, band) for band, reply in enumerate(replies) if reply]
    if not found:
        return np.empty(0, np.int64)
    numbers, counts = np.unique(np.concatenate(found), return_counts=True)
    chosen: Ids = numbers[np.lexsort((numbers, -counts))[:MAX_SHARING]]
    return chosen


def _numbers(reply: bytes, sketch: bytes, band: int) -> Ids:
    end = (band + 1) * _ROWS
    records = np.frombuffer(reply, _RECORD)
    check = int.from_bytes(sketch[end - _CHECK_BYTES : end], "little")
    records = records[records["check"] == check]
    numbers: Ids = records["low"].astype(np.int64)
    numbers |= records["high"].astype(np.int64) << 32
    # A list with parts may have a text twice.
    return distinct(numbers)
