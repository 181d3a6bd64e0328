"""Which buckets must be asked so that nothing within the radius is missed?

A fingerprint is cut into 4 blocks of 16 bits. Give each block a share s, 0 or more, such that the
shares add up to radius + 1. Were two fingerprints s or more bits apart in *every* block, they
would be radius + 1 or more bits apart in all: so whatever is within the radius differs from the
query in fewer than s bits in some block. A block with share s is therefore asked for all values
that are at most s - 1 bits from the query's; a block with share 0 is not asked.

With a radius of 3 and shares (1, 1, 1, 1) these are the four tables of Manku, Jain, Das Sarma
(WWW 2007), section 3.1. Other shares serve larger radii with the same four tables, as multi-index
hashing does (Norouzi, Punjani, Fleet, CVPR 2012), and steer around a block whose value is shared
by everybody (general pigeonhole principle: Qin et al., ICDE 2018).
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

BLOCKS = 4
BLOCK_BITS = 16
MAX_SHARE = 4
"""Up to 3 flipped bits in a block, 697 buckets; beyond that, reading all rows is cheaper."""


class Masks(NamedTuple):
    """What to flip in a block's value to reach its neighbours.

    Attributes:
        flips: int64, (masks,), those with the fewest set bits first.
        ends: By share: how many of the masks belong to it, ``(0, 1, 1 + bits, ...)``.
    """

    flips: npt.NDArray[np.int64]
    ends: tuple[int, ...]


@cache
def masks(bits: int) -> Masks:
    """Return all values of ``bits`` bits of which fewer than MAX_SHARE are set."""
    values = np.arange(1 << bits, dtype=np.int64)
    set_bits = np.bitwise_count(values)
    order = np.argsort(set_bits, kind="stable")
    ends = np.searchsorted(set_bits[order], np.arange(MAX_SHARE), side="right")
    return Masks(values[order[: ends[-1]]], (0, *ends.tolist()))


def even_share(radius: int) -> int:
    """Return the largest share of a block when the shares are as even as can be."""
    return -(-(radius + 1) // BLOCKS)


@cache
def shares(radius: int, largest: int) -> npt.NDArray[np.intp]:
    """Return every way to share radius + 1 among the blocks: intp, (ways, BLOCKS)."""
    ways = [way for way in product(range(largest + 1), repeat=BLOCKS) if sum(way) == radius + 1]
    return np.array(ways, dtype=np.intp)


def blocks_of(fingerprint: int) -> tuple[int, int, int, int]:
    """Cut a fingerprint into its blocks, the highest bits first."""
    return (
        fingerprint >> 48,
        fingerprint >> 32 & 0xFFFF,
        fingerprint >> 16 & 0xFFFF,
        fingerprint & 0xFFFF,
    )
