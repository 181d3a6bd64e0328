"""Four permuted tables over the rows of one segment, and which rows a query must look at."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.indexes.arrays import MAX_RADIUS, Fingerprints
from neardup.indexes.pigeonhole import (
    BLOCK_BITS,
    BLOCKS,
    MAX_SHARE,
    Masks,
    even_share,
    masks,
    shares,
)

PROBE_COST = 4
"""Opening one more bucket costs as much as looking at so many rows (measured: 12 to 20 ns)."""

SCAN_COST = 0.2
"""A row read in sequence costs so much of a row looked up through a table (0.6 of 3 to 5 ns)."""

ROWS_A_BUCKET = 8
"""Bucket numbers are cut to so many bits that this many rows share one, up to 16 bits."""

PLAN_COST = 1024
"""Below so many candidates a cleverer plan costs more than it saves."""

PLAN_ROWS = 65_536
"""So many rows are read in the time that it takes to make a plan (50 microseconds)."""


class Pairs(NamedTuple):
    """Rows to compare with queries.

    Attributes:
        positions: int64, (pairs,), which query.
        rows: uint32, (pairs,), which row.
    """

    positions: npt.NDArray[np.int64]
    rows: npt.NDArray[np.uint32]


class Tables:
    """For each of the four blocks, the rows sorted by that block, and where each value starts.

    Only the first row of a run of equal fingerprints is in the tables: a boilerplate shared by
    100,000 ids is one candidate. Small segments are sorted by fewer bits, so that the list of
    starts stays small beside the rows; a bucket then holds neighbouring values as well, which
    costs comparisons and never a match.

    Args:
        fingerprints: uint64, (rows,), sorted, at most 2**32 of them.

    Attributes:
        distinct: The fingerprints without their repetitions.
        bits: How many bits of each block the rows are sorted by.
        most: By radius, the number of candidates above which a query wants a plan of its own.

    Memory: 16 bytes a distinct fingerprint and at most 1 MiB.
    """

    def __init__(self, fingerprints: Fingerprints) -> None:
        heads = _heads(fingerprints)
        self.distinct = len(fingerprints) if heads is None else len(heads)
        self.bits = min(BLOCK_BITS, max(0, (self.distinct // ROWS_A_BUCKET).bit_length()))
        self._cut = BLOCK_BITS - self.bits
        values = fingerprints if heads is None else fingerprints[heads]
        self._rows: list[npt.NDArray[np.uint32]] = []
        self._starts: list[npt.NDArray[np.uint32]] = []
        for block in range(BLOCKS):
            rows, starts = self._table(values, block)
            self._rows.append(rows if heads is None else heads[rows])
            self._starts.append(starts)
        self.most = [self._most_candidates(radius) for radius in range(MAX_RADIUS + 1)]
        # A memoryview hands out a Python int four times faster than an array does.
        self._views = [starts.data for starts in self._starts]

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the tables take."""
        return sum(array.nbytes for array in (*self._rows, *self._starts))

    def candidates(self, blocks: tuple[int, ...], radius: int) -> npt.NDArray[np.uint32] | None:
        """Return rows that hold whatever is within the radius, or None: read them all.

        A row may be named more than once.
        """
        if radius >= BLOCKS:
            return self._planned(blocks, radius, even_share(radius))
        spans = []
        for block, starts in zip(blocks, self._views, strict=True):
            value = block >> self._cut
            spans.append((starts[value], starts[value + 1]))
        return self._exact(blocks, radius, spans)

    def many(self, values: Fingerprints, radius: int) -> tuple[Pairs, npt.NDArray[np.int64]]:
        """Return the pairs to compare for many queries, and the queries that want another plan.

        Args:
            values: uint64, (queries,).
            radius: In bits.
        """
        largest = even_share(radius)
        whole = radius + 1 - (largest - 1) * BLOCKS
        spans = [
            self._neighbours(block, self._prefixes(values, block)[:, None], share)
            for block in range(BLOCKS)
            if (share := largest if block < whole else largest - 1)
        ]
        totals = sum((hi - lo).sum(axis=1) for lo, hi in spans)
        heavy = np.asarray(totals) > self.most[radius]
        light = np.flatnonzero(~heavy)
        picked = []
        for rows, (lo, hi) in zip(self._rows, spans, strict=False):
            counts = (hi[light] - lo[light]).sum(axis=1)
            picked.append(Pairs(light.repeat(counts), _expanded(rows, lo[light], hi[light])))
        pairs = Pairs(
            np.concatenate([pair.positions for pair in picked]),
            np.concatenate([pair.rows for pair in picked]),
        )
        return pairs, np.flatnonzero(heavy)

    def _table(
        self, values: Fingerprints, block: int
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        # Keys of 16 bits make numpy's stable sort a radix sort: 10 ms for a million rows.
        keys = self._prefixes(values, block).astype(np.uint16)
        rows = np.argsort(keys, kind="stable").astype(np.uint32)
        starts = np.zeros((1 << self.bits) + 1, np.uint32)
        starts[1:] = np.bincount(keys, minlength=1 << self.bits).cumsum()
        return rows, starts

    def _prefixes(self, values: Fingerprints, block: int) -> npt.NDArray[np.int64]:
        shift = np.uint64((BLOCKS - 1 - block) * BLOCK_BITS)
        prefixes = (values >> shift & np.uint64(0xFFFF)) >> np.uint64(self._cut)
        return prefixes.astype(np.int64)

    def _most_candidates(self, radius: int) -> int:
        """Return a number well above that of evenly spread fingerprints."""
        probes = BLOCKS * masks(self.bits).ends[even_share(radius)]
        return PLAN_COST + 4 * probes * self.distinct // (1 << self.bits)

    def _exact(
        self, blocks: tuple[int, ...], radius: int, spans: list[tuple[int, int]]
    ) -> npt.NDArray[np.uint32] | None:
        """Look at one bucket in each of radius + 1 blocks, those with the fewest rows."""
        asked = list(range(BLOCKS))
        if radius + 1 < BLOCKS:
            by_size = sorted(asked, key=lambda block: spans[block][1] - spans[block][0])
            asked = by_size[: radius + 1]
        if sum(spans[block][1] - spans[block][0] for block in asked) > self.most[radius]:
            return self._planned(blocks, radius, min(MAX_SHARE, radius + 1))
        return np.concatenate([self._rows[block][slice(*spans[block])] for block in asked])

    def _planned(
        self, blocks: tuple[int, ...], radius: int, largest: int
    ) -> npt.NDArray[np.uint32] | None:
        """Share the radius among the blocks so that the fewest rows are looked at."""
        if self.distinct <= PLAN_ROWS:
            return None
        around = masks(self.bits)
        spans = [
            self._neighbours(block, np.int64(value >> self._cut), largest)
            for block, value in enumerate(blocks)
        ]
        ways = shares(radius, largest)
        costs = [_costs(lo, hi, around, largest) for lo, hi in spans]
        by_way = np.sum([cost[ways[:, block]] for block, cost in enumerate(costs)], axis=0)
        best = int(by_way.argmin())
        cost = by_way[best]
        if largest < min(MAX_SHARE, radius + 1) and cost > self.most[radius]:
            return self._planned(blocks, radius, MAX_SHARE)
        if cost > self.distinct * SCAN_COST:
            return None
        picked = []
        for rows, (lo, hi), share in zip(self._rows, spans, ways[best].tolist(), strict=True):
            probes = around.ends[share]
            picked.append(_expanded(rows, lo[:probes], hi[:probes]))
        return np.concatenate(picked)

    def _neighbours(
        self, block: int, prefixes: npt.NDArray[np.int64] | np.int64, share: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return first and last row of the buckets with fewer than ``share`` flipped bits."""
        around = masks(self.bits)
        buckets = prefixes ^ around.flips[: around.ends[share]]
        starts = self._starts[block]
        return starts[buckets].astype(np.int64), starts[buckets + 1].astype(np.int64)


def _heads(fingerprints: Fingerprints) -> npt.NDArray[np.uint32] | None:
    """Return the first row of each run of equal fingerprints; None: no two are equal."""
    changes = np.flatnonzero(fingerprints[1:] != fingerprints[:-1])
    if len(changes) + 1 >= len(fingerprints):
        return None
    heads = np.zeros(len(changes) + 1, np.uint32)
    heads[1:] = changes + 1
    return heads


def _costs(
    lo: npt.NDArray[np.int64], hi: npt.NDArray[np.int64], around: Masks, largest: int
) -> npt.NDArray[np.float64]:
    """Return what each share of a block costs, in rows looked at: float64, (largest + 1,)."""
    summed = np.concatenate(([0], (hi - lo + PROBE_COST).cumsum()))
    costs: npt.NDArray[np.float64] = summed[list(around.ends[: largest + 1])].astype(np.float64)
    return costs


def _expanded(
    rows: npt.NDArray[np.uint32], lo: npt.NDArray[np.int64], hi: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Return ``rows[lo:hi]`` of every pair of lo and hi, one after the other."""
    counts = (hi - lo).ravel()
    ends = counts.cumsum()
    index = np.repeat(lo.ravel() - ends + counts, counts)
    index += np.arange(len(index))
    picked: npt.NDArray[np.uint32] = rows[index]
    return picked
