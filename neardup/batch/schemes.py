"""Make the keys by which texts meet, and the sketches that tell them apart.

Each text has a key in each of several tables: bands of its signature, or blocks of its fingerprint.
Texts with an equal key in one are compared by sketches: 16 bytes that tell two texts of different
words apart before their texts are fetched.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.features.hashing import GOLDEN, Hashes, mix
from neardup.fingerprints.minhash import Signature
from neardup.indexes.banding import CANDIDATE_BANDING
from neardup.parameters import Parameters

_BITS = 64
_TABLE_SHIFT = np.uint64(48)
_MAX_BLOCKS = 16

# Seconds of one core to make, shuffle and sort a row of a join, and to compare two, as measured at
# 10**5 and 10**6 pages of documentation. A comparison takes 0.8 ns; the fingerprints of real pages
# crowd, so that there are three times as many as of evenly spread ones.
_ROW_SECS, _COMPARISON_SECS = 4e-6, 2.5e-9
_MAX_A_KEY = 1 << 13
"""The largest number of texts under a key on average, if fingerprints were spread evenly: real ones
crowd, and from 2**17 on (``MAX_COMPARED`` from both ends) not all of a key are compared."""


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


def cheapest_blocks(radius: int, texts: int) -> Blocks:
    """Return the number of blocks that costs the least for ``texts`` texts."""
    choices = [Blocks(radius, count) for count in range(radius + 1, _MAX_BLOCKS)]
    short = [scheme for scheme in choices if texts <= _MAX_A_KEY * 2**scheme.bits]
    return min(short or choices[-1:], key=lambda scheme: _secs(scheme, texts))


def scheme_of(parameters: Parameters, texts: int) -> Scheme:
    """Return the bands of a verdict, or the blocks of a radius where distance alone decides."""
    if parameters.verify:
        return Bands(*CANDIDATE_BANDING)
    return cheapest_blocks(parameters.max_distance, texts)


def _secs(scheme: Blocks, texts: int) -> float:
    comparisons = scheme.tables * texts**2 / 2 / 2**scheme.bits
    return scheme.tables * texts * _ROW_SECS + comparisons * _COMPARISON_SECS


WORDS = ("sketch0", "sketch1")
"""The columns of a sketch, 64 bits each."""

# The 32-bit finalizer of MurmurHash3 (Austin Appleby, public domain).
_FIRST = np.uint32(0x85EBCA6B)
_SECOND = np.uint32(0xC2B2AE35)


def sketches_of(signatures: Signature) -> Hashes:
    """Return two bits of each of the 64 values of signatures: uint64, (texts, 2).

    Args:
        signatures: uint32, (texts, 64).

    Reference: Li and Koenig, b-bit minwise hashing, WWW 2010, section 3.
    """
    columns = _mixed(signatures)[..., np.newaxis] >> np.arange(2, dtype=np.uint32) & np.uint32(1)
    bits = columns.astype(np.uint8).reshape(len(signatures), -1)
    sketches: Hashes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return sketches


def _mixed(values: Signature) -> Signature:
    # The values are odd, and the low bits of a product rest on the low bits of its factors alone:
    # two texts of one shingle each would agree in all values or in none.
    mixed = values ^ values >> np.uint32(16)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint32(13)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint32(16)
    return mixed


def differing_share(similarity: float) -> float:
    """Return the chance that the two bits of a value differ, which agree by chance once in four."""
    return 0.75 * (1.0 - similarity)
