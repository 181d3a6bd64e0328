"""Choose the buckets to search so that nothing within the radius is missed, and describe the work.

A fingerprint is cut into 4 blocks of 16 bits. Give each block a share s, 0 or more, such that the
shares add up to radius + 1. Were two fingerprints s or more bits apart in *every* block, they
would be radius + 1 or more bits apart in all: so whatever is within the radius differs from the
query in fewer than s bits in some block. A block with share s is therefore asked for all values
that are at most s - 1 bits from the query's; a block with share 0 is not asked.

With a radius of 3 and shares (1, 1, 1, 1) these are the four tables of Manku, Jain, Das Sarma
(WWW 2007), section 3.1. Other shares serve larger radii with the same four tables, as multi-index
hashing does (Norouzi, Punjani, Fleet, CVPR 2012), and steer around a block whose value is shared
by all (general pigeonhole principle: Qin et al., ICDE 2018).
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.columns import BLOCK_BITS, BLOCKS, bucket_bits

MAX_SHARE = 4
"""The largest share: up to 3 flipped bits in a block, 697 buckets; above it a scan is cheaper."""


class Masks(NamedTuple):
    """The bits to flip in a bucket's number to reach its neighbours.

    Attributes:
        flips: uint16, (masks,), those with the fewest set bits first.
        ends: The number of masks that belong to each share, ``(0, 1, 1 + bits, ...)``.
    """

    flips: npt.NDArray[np.uint16]
    ends: tuple[int, ...]


@cache
def masks(bits: int) -> Masks:
    """Return all values of ``bits`` bits that have fewer than MAX_SHARE bits set."""
    values = np.arange(1 << bits, dtype=np.uint16)
    set_bits = np.bitwise_count(values)
    order = np.argsort(set_bits, kind="stable")
    ends = np.searchsorted(set_bits[order], np.arange(MAX_SHARE), side="right")
    return Masks(values[order[: ends[-1]]], (0, *ends.tolist()))


def even_shares(radius: int) -> tuple[int, ...]:
    """Return the shares of the blocks that are as even as can be, the largest first."""
    return tuple((radius + BLOCKS - block) // BLOCKS for block in range(BLOCKS))


@dataclass(frozen=True)
class Design:
    """The work of a query in the largest segment of an index, for evenly spread fingerprints.

    Where the buckets of a query hold far more rows than ``expected_rows``, the query chooses the
    shares that compare the fewest rows, or reads all rows in sequence.

    Attributes:
        rows: Distinct fingerprints of the segment.
        radius: The largest distance of a match, in bits.
        tables: Sorted copies of the fingerprints.
        block_bits: Bits of the block that each is sorted by first.
        prefix_bits: Bits of a bucket's number.
        shares: The share of each block: the search visits all values of the block that are fewer
            bits than this away. The shares add up to radius + 1, so that nothing within the radius
            is missed.
        probes: Buckets that a query opens.
        expected_rows: Rows that it compares.

    Reference: Manku, Jain, Das Sarma, WWW 2007, section 3; Qin et al., ICDE 2018.
    """

    rows: int
    radius: int
    tables: int
    block_bits: int
    prefix_bits: int
    shares: tuple[int, ...]
    probes: int
    expected_rows: float

    def __str__(self) -> str:
        return (
            f"{self.tables} tables of {self.block_bits}-bit blocks, 2**{self.prefix_bits} buckets; "
            f"radius {self.radius} shared out as {self.shares}: {self.probes} buckets, about "
            f"{self.expected_rows:,.0f} of {self.rows:,} rows"
        )


def design_of(rows: int, radius: int) -> Design:
    """Return the design for a segment with ``rows`` distinct fingerprints."""
    bits, shares = bucket_bits(rows), even_shares(radius)
    probes = sum(masks(bits).ends[share] for share in shares)
    return Design(
        rows=rows,
        radius=radius,
        tables=BLOCKS,
        block_bits=BLOCK_BITS,
        prefix_bits=bits,
        shares=shares,
        probes=probes,
        expected_rows=probes * rows / (1 << bits),
    )
