"""How a fingerprint is cut into blocks, and which values of a block are asked for.

Two fingerprints within r bits of each other, r = blocks * a + c with c < blocks, are within a bits
in one of the first c + 1 blocks or within a - 1 bits in one of the others: else they would be
(c + 1) * (a + 1) + (blocks - c - 1) * a = r + 1 bits apart. So nothing else need be asked for.

Reference: Norouzi, Punjani, Fleet, Fast search in Hamming space with multi-index hashing,
CVPR 2012, section 3.
"""

from collections import defaultdict
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from neardup.errors import ParameterError

_BITS = 64
_FIELD_BITS = 12
"""The low bits of a value are a field of a bucket, the high ones its key. 64 buckets of 4 blocks
are spread well enough over a cluster; of 256 a query asks with so many more commands that it takes
its server twice the time."""
_FEWEST, _MOST = 3, 6


class Place(NamedTuple):
    """Where a value of a block is held: in a list of a bucket."""

    block: int
    bucket: int
    field: bytes


class Cutting:
    """A fingerprint's blocks, of as even a number of bits as can be.

    Args:
        blocks: 3 to 6. Fewer have longer values: shorter lists, of which more are asked for.

    Raises:
        ParameterError: Another number of blocks.
    """

    def __init__(self, blocks: int) -> None:
        if not _FEWEST <= blocks <= _MOST:
            raise ParameterError(f"blocks must be {_FEWEST}..{_MOST}, got {blocks}")
        ends = [_BITS * block // blocks for block in range(blocks + 1)]
        self._shifts = ends[:-1]
        self._bits = [end - start for start, end in pairwise(ends)]

    def places(self, fingerprint: int) -> list[Place]:
        """Return where a fingerprint is held, by block."""
        return [self._place(block, value) for block, value in enumerate(self._cut(fingerprint))]

    def probes(self, fingerprint: int, radius: int) -> dict[tuple[int, int], list[bytes]]:
        """Return the lists that hold all fingerprints within the radius: fields by bucket.

        Complexity: O(lists): 4 of a radius of 3, 188 of 8, where there are 4 blocks.
        """
        each, further = divmod(radius, len(self._bits))
        buckets: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        for block, value in enumerate(self._cut(fingerprint)):
            # Those of a radius below the number of blocks need not be asked for; they find what a
            # list that is full left out.
            flipped = each if block <= further else max(each - 1, 0)
            for mask in _masks(self._bits[block], flipped):
                place = self._place(block, value ^ mask)
                buckets[place.block, place.bucket].append(place.field)
        return buckets

    def _cut(self, fingerprint: int) -> list[int]:
        return [
            (fingerprint >> shift) & ((1 << bits) - 1)
            for shift, bits in zip(self._shifts, self._bits, strict=True)
        ]

    @staticmethod
    def _place(block: int, value: int) -> Place:
        field = value & ((1 << _FIELD_BITS) - 1)
        return Place(block, value >> _FIELD_BITS, field.to_bytes(2))


@cache
def _masks(bits: int, most: int) -> tuple[int, ...]:
    """Return the values of so many bits of which at most so many are set."""
    return tuple(
        sum(1 << place for place in places)
        for count in range(most + 1)
        for places in combinations(range(bits), count)
    )
