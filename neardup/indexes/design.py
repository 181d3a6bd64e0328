"""Describe how an index of a given size and radius answers a query."""

from dataclasses import dataclass

from neardup.indexes.columns import BLOCK_BITS, BLOCKS, bucket_bits
from neardup.indexes.pigeonhole import even_shares, masks


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
