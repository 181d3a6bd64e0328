"""Find the kept texts whose fingerprints are near a given one."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from neardup.errors import ParameterError
from neardup.features.shingles import distinct
from neardup.indexes.arrays import Ids, Match
from neardup.storage.redis.record_lists import (
    MAX_NUMBERS,
    Addition,
    ListPlace,
    RecordLists,
    posting,
    unpack,
)

_BLOCK_KIND = 0x20
"""The kind of the lists of the first block; the others follow."""

_BITS = 64
_MIN_COUNT, _MAX_COUNT = 3, 6


class BlockValue(NamedTuple):
    """The value of a block of a fingerprint."""

    block: int
    value: int


class Cutting:
    """The division of a fingerprint into blocks, as even as can be.

    Args:
        blocks: The number of blocks, 3 to 6. Fewer blocks have longer values: their lists are
            shorter, and more of them are asked for.

    Raises:
        ParameterError: The number of blocks is another.
    """

    def __init__(self, blocks: int) -> None:
        if not _MIN_COUNT <= blocks <= _MAX_COUNT:
            raise ParameterError(f"blocks must be {_MIN_COUNT}..{_MAX_COUNT}, got {blocks}")
        ends = [_BITS * block // blocks for block in range(blocks + 1)]
        self._shifts = ends[:-1]
        self._bits = [end - start for start, end in pairwise(ends)]

    def places(self, fingerprint: int) -> list[BlockValue]:
        """Return by which values a fingerprint is held, by block."""
        return [BlockValue(*each) for each in enumerate(self._cut(fingerprint))]

    def probes(self, fingerprint: int, radius: int) -> list[BlockValue]:
        """Return the values of all fingerprints within the radius: one of each of these has some.

        Complexity: O(values): 4 of a radius of 3, 188 of 8, where there are 4 blocks.
        """
        each, further = divmod(radius, len(self._bits))
        # Those of a radius below the number of blocks need not be asked for; they find what a
        # list that is full left out.
        return [
            BlockValue(block, value ^ mask)
            for block, value in enumerate(self._cut(fingerprint))
            for mask in _masks(self._bits[block], each if block <= further else max(each - 1, 0))
        ]

    def _cut(self, fingerprint: int) -> list[int]:
        return [
            (fingerprint >> shift) & ((1 << bits) - 1)
            for shift, bits in zip(self._shifts, self._bits, strict=True)
        ]


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
        blocks: The number of blocks of a fingerprint, 3 to 6; the same for all who share them.

    Raises:
        ParameterError: Another number of blocks.
    """

    def __init__(self, lists: RecordLists, *, blocks: int = 4) -> None:
        self._cutting = Cutting(blocks)
        self._lists = lists

    async def add(self, fingerprint: int, number: int) -> None:
        """Hold a fingerprint; does no harm when it is held already."""
        await self._lists.add(self.additions(fingerprint, number))

    async def query(self, fingerprint: int, radius: int) -> list[Match]:
        """Find the fingerprints within the radius, nearest first, then by number.

        Complete but for the middle of lists of more than 65,536 fingerprints.

        Complexity: O(lists asked for + fingerprints in them); one round trip, two where one of them
        is longer than ``MAX_LIST``.
        """
        stored = await self._lists.read(self.questions(fingerprint, radius))
        numbers, distances = near(stored, fingerprint, radius)
        return list(map(Match, numbers.tolist(), distances.tolist()))

    def additions(self, fingerprint: int, number: int) -> list[Addition]:
        """Return the records that ``add`` adds."""
        record = posting(fingerprint, number)
        return [Addition(self._place(each), record) for each in self._cutting.places(fingerprint)]

    def questions(self, fingerprint: int, radius: int) -> list[ListPlace]:
        """Return the lists that ``query`` reads; ``near`` searches them."""
        return [self._place(each) for each in self._cutting.probes(fingerprint, radius)]

    def _place(self, each: BlockValue) -> ListPlace:
        return self._lists.place(_BLOCK_KIND + each.block, each.value)


def near(lists: Sequence[bytes | None], fingerprint: int, radius: int) -> tuple[Ids, Ids]:
    """Return the numbers within the radius and their distances, nearest first, then by number."""
    values, numbers = unpack(lists)
    distances = np.bitwise_count(values ^ np.uint64(fingerprint))
    within = distances <= radius
    # One that is near in several blocks is found in each.
    found = distinct(distances[within].astype(np.int64) * MAX_NUMBERS + numbers[within])
    return found % MAX_NUMBERS, found // MAX_NUMBERS
