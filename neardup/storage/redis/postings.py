"""Find the kept texts that are near a given one, by their fingerprints and by their signatures.

Fingerprints are found by the values of their blocks. Of signatures a *sketch* holds a byte of each
value, the upper byte of a multiplicative hash. Texts that share a band of their signatures share it
in their sketches, by which they are found; and the number of values in which two sketches differ
tells about how similar the texts are.

Reference: Li and Koenig, b-bit minwise hashing, WWW 2010, section 3.
"""

import struct
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.features.hashing import GOLDEN
from neardup.features.shingles import distinct, distinct_counts
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.storage.redis.record_lists import (
    MAX_NUMBERS,
    NUMBER_BYTES,
    Addition,
    ListPlace,
    RecordLists,
    list_bits,
    packed_number,
    posting,
    unpack,
)

_BLOCK_KIND = 0x20
"""The kind of the lists of the first block; the others follow."""

_BITS = 64
_MIN_COUNT, _MAX_COUNT = 3, 6

SKETCH_BYTES = CANDIDATE_PERMUTATIONS
MAX_SHARING = 4096
"""The largest number of texts that share a band and are looked at: those that share the most."""

_BANDS, _ROWS = CANDIDATE_BANDING
_BYTE_SHIFT = np.uint64(56)
_ENDS = range(_ROWS, SKETCH_BYTES + 1, _ROWS)
_BAND_VALUES = struct.Struct(f">{_BANDS}I")  # a band is four values of one byte
_CHECK_BYTES = 2
_RECORD = np.dtype([("check", f"<u{_CHECK_BYTES}"), ("low", "<u4"), ("high", "u1")])
BAND_RECORD_BYTES = _CHECK_BYTES + NUMBER_BYTES


@cache
def _masks(bits: int, most: int) -> tuple[int, ...]:
    """Return the values of ``bits`` bits that have at most ``most`` bits set."""
    return tuple(
        sum(1 << place for place in places)
        for count in range(most + 1)
        for places in combinations(range(bits), count)
    )


class RedisPostings:
    """Block values to the fingerprints that have them.

    Args:
        lists: The lists of all kinds.
        blocks: The number of blocks of a fingerprint, 3 to 6, as even as can be; the same for all
            who share them. Fewer blocks have longer values: their lists are shorter, and more of
            them are asked for.

    Raises:
        ParameterError: Another number of blocks.
    """

    def __init__(self, lists: RecordLists, *, blocks: int = 4) -> None:
        if not _MIN_COUNT <= blocks <= _MAX_COUNT:
            raise ParameterError(f"blocks must be {_MIN_COUNT}..{_MAX_COUNT}, got {blocks}")
        self._ends = [_BITS * block // blocks for block in range(blocks + 1)]
        self._lists = lists

    def additions(self, fingerprint: int, number: int) -> list[Addition]:
        """Return the records by which a fingerprint is found, by block, the lowest bits first."""
        record = posting(fingerprint, number)
        return [Addition(place, record) for place in self.questions(fingerprint, 0)]

    def questions(self, fingerprint: int, radius: int) -> list[ListPlace]:
        """Return the lists of all fingerprints within the radius; ``near`` searches them.

        Each of these fingerprints has some value that is asked for. Complete but for the middle of
        lists of more than 65,536 fingerprints.

        Complexity: O(lists): 4 of a radius of 3, 188 of 8, where there are 4 blocks.
        """
        each, further = divmod(radius, len(self._ends) - 1)
        places = []
        for block, (start, end) in enumerate(pairwise(self._ends)):
            value = (fingerprint >> start) & ((1 << (end - start)) - 1)
            # Those of a radius below the number of blocks need not be asked for; they find what a
            # list that is full left out.
            most = each if block <= further else max(each - 1, 0)
            places += [
                self._lists.place(_BLOCK_KIND + block, value ^ mask)
                for mask in _masks(end - start, most)
            ]
        return places


def near(lists: Sequence[bytes | None], fingerprint: int, radius: int) -> tuple[Ids, Ids]:
    """Return the numbers within the radius and their distances, nearest first, then by number."""
    values, numbers = unpack(lists)
    distances = np.bitwise_count(values ^ np.uint64(fingerprint))
    within = distances <= radius
    # One that is near in several blocks is found in each.
    found = distinct(distances[within].astype(np.int64) * MAX_NUMBERS + numbers[within])
    return found % MAX_NUMBERS, found // MAX_NUMBERS


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


class RedisBands:
    """Bands of sketches to the texts that have them.

    A record is the last two bytes of a band and the number of a text; the first bits of the band
    tell the list.

    Args:
        lists: The lists of all kinds.
        blocks: The number of blocks of a fingerprint, by which lists are counted.
    """

    def __init__(self, lists: RecordLists, *, blocks: int = 4) -> None:
        self._lists = lists
        self._shift = 8 * _ROWS - list_bits(blocks)

    def additions(self, sketch: bytes, number: int) -> list[Addition]:
        """Return the records by which a text is found."""
        packed = packed_number(number)
        return [
            Addition(place, sketch[end - _CHECK_BYTES : end] + packed)
            for place, end in zip(self.questions(sketch), _ENDS, strict=True)
        ]

    def questions(self, sketch: bytes) -> list[ListPlace]:
        """Return the lists of a sketch, by band; ``sharing`` searches them."""
        place, shift = self._lists.place, self._shift
        return [
            place(band, value >> shift, BAND_RECORD_BYTES)
            for band, value in enumerate(_BAND_VALUES.unpack(sketch))
        ]


def sharing(lists: Sequence[bytes | None], sketch: bytes) -> Ids:
    """Return the numbers of the texts that share a band, those that share the most bands first.

    Of equal ones the lowest number is first; at most ``MAX_SHARING`` are returned, as int64.

    Args:
        lists: The lists of ``RedisBands.questions``.
        sketch: The sketch that was asked for.
    """
    found = [_numbers(stored, sketch, band) for band, stored in enumerate(lists) if stored]
    if not found:
        return np.empty(0, np.int64)
    numbers, counts = distinct_counts(np.concatenate(found))
    chosen: Ids = numbers[np.lexsort((numbers, -counts))[:MAX_SHARING]]
    return chosen


def _numbers(stored: bytes, sketch: bytes, band: int) -> Ids:
    end = (band + 1) * _ROWS
    records = np.frombuffer(stored, _RECORD)
    check = int.from_bytes(sketch[end - _CHECK_BYTES : end], "little")
    records = records[records["check"] == check]
    numbers: Ids = records["low"].astype(np.int64)
    numbers |= records["high"].astype(np.int64) << 32
    # A list with parts may have a text twice.
    return distinct(numbers)
