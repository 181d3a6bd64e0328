"""Choose the keys by which texts meet: blocks of fingerprints, or bands of signatures.

Each text has a key in each of several tables; texts with an equal key in one are compared.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.batch.sketches import PERMUTATIONS
from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.indexes.banding import banding

AUTO, BLOCKS, BANDS = JOINS = ("auto", "blocks", "bands")

_BITS = 64
_TABLE_SHIFT = np.uint64(48)
_MAX_BLOCKS = 16
_MIN_RECALL = 0.9999

# Seconds of one core to make, shuffle and sort a row of a join, and to compare two, as measured at
# 10**5 and 10**6 pages of documentation. A comparison takes 0.8 ns; the fingerprints of real pages
# crowd, so that there are three times as many as of evenly spread ones.
_ROW_SECS, _COMPARISON_SECS = 4e-6, 2.5e-9
_MAX_A_KEY = 1 << 13
"""The largest number of texts under a key on average, if fingerprints were spread evenly: real ones
crowd, and from 2**17 on (``MAX_COMPARED`` from both ends) not all of a key are compared."""

_MAX_TIMES = 4.0
"""Bands replace blocks where blocks take more than this many times as long: blocks find all pairs,
bands nearly all.
"""


@dataclass(frozen=True)
class Blocks:
    """Permuted blocks: all fingerprints within ``radius`` bits meet in at least one table.

    Fingerprints are cut into blocks, and at most ``radius`` of them can differ. The others are
    equal, and each choice of that many blocks is a table.

    Attributes:
        radius: The largest distance to find, in bits.
        blocks: The number of blocks, above ``radius``.

    Reference: Manku, Jain, Das Sarma, WWW 2007, section 3.1.
    """

    radius: int
    blocks: int

    @property
    def tables(self) -> int:
        return math.comb(self.blocks, self.radius)

    @property
    def bits(self) -> float:
        """The bits of a key, on average."""
        return _BITS * (self.blocks - self.radius) / self.blocks

    @cached_property
    def masks(self) -> Hashes:
        """The bits of a fingerprint that make the key of each table, uint64, (tables,)."""
        edges = [_BITS * block // self.blocks for block in range(self.blocks + 1)]
        ones = [(1 << high) - (1 << low) for low, high in pairwise(edges)]
        chosen = combinations(ones, self.blocks - self.radius)
        return np.array([sum(some) for some in chosen], np.uint64)

    def keys(self, fingerprints: Hashes, signatures: NDArray[np.uint32] | None) -> Hashes:
        """Return the keys of texts, uint64, (texts, tables); the upper 16 bits are the table's."""
        return _in_tables(mix(fingerprints[:, np.newaxis] & self.masks))


@dataclass(frozen=True)
class Bands:
    """Bands of MinHash signatures, of ``rows`` values: nearly all similar pairs meet."""

    tables: int
    rows: int

    @property
    def masks(self) -> Hashes:
        """Empty: bands do not tell in which tables two texts meet."""
        return np.zeros(0, np.uint64)

    def keys(self, fingerprints: Hashes, signatures: NDArray[np.uint32] | None) -> Hashes:
        assert signatures is not None
        values = signatures[:, : self.tables * self.rows].astype(np.uint64)
        values = values.reshape(-1, self.tables, self.rows)
        keys = np.zeros(values.shape[:2], np.uint64)
        for row in range(self.rows):
            keys = mix(keys * GOLDEN + values[:, :, row])
        return _in_tables(keys)


Scheme: TypeAlias = Blocks | Bands


def _in_tables(keys: Hashes) -> Hashes:
    tables = np.arange(keys.shape[1], dtype=np.uint64) << _TABLE_SHIFT
    return keys >> np.uint64(16) | tables


def bands_for(min_similarity: float) -> Bands:
    """Return the bands that find all but one in 10,000 of the pairs at that similarity."""
    found = banding(min_similarity, PERMUTATIONS, _MIN_RECALL)
    return Bands(found.bands, found.rows)


def cheapest_blocks(radius: int, texts: int) -> Blocks:
    """Return the number of blocks that costs the least for ``texts`` texts."""
    choices = [Blocks(radius, count) for count in range(radius + 1, _MAX_BLOCKS)]
    short = [scheme for scheme in choices if texts <= _MAX_A_KEY * 2**scheme.bits]
    return min(short or choices[-1:], key=lambda scheme: _secs(scheme, texts))


def cheapest(radius: int, min_similarity: float | None, texts: int) -> Scheme:
    """Return the cheapest blocks for a join, or bands where blocks cost several times as much.

    Bands need a least similarity; None: distance alone decides.
    """
    blocks = cheapest_blocks(radius, texts)
    if min_similarity is None or min_similarity < 0.5:
        return blocks
    bands = bands_for(min_similarity)
    is_dear = _secs(blocks, texts) > _MAX_TIMES * bands.tables * texts * _ROW_SECS
    return bands if is_dear else blocks


def _secs(scheme: Blocks, texts: int) -> float:
    comparisons = scheme.tables * texts**2 / 2 / 2**scheme.bits
    return scheme.tables * texts * _ROW_SECS + comparisons * _COMPARISON_SECS
