"""Fingerprints and signatures as tests draw them, and a second way to scan them."""

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from neardup import HammingIndex
from neardup.indexes.arrays import Match, Signatures
from tests.damage import said_before_a_kill

unhurried = settings(deadline=None)
"""Tests assert nothing about speed: a busy machine is no bug."""

MASK = 2**64 - 1
radii = st.integers(0, 8)
ids = st.integers(0, 2**63 - 1)


@st.composite
def fingerprints(draw: st.DrawFn) -> int:
    """Few centres and few flipped bits: so that entries are near each other, and blocks shared."""
    centre = draw(st.sampled_from([0, MASK, 0x0123456789ABCDEF, 0x1234 << 48, 1 << 63]))
    for bit in draw(st.lists(st.integers(0, 63), max_size=9)):
        centre ^= 1 << bit
    return draw(st.one_of(st.just(centre), st.integers(0, MASK)))


entries = st.lists(st.tuples(fingerprints(), ids), max_size=60)


Entries = list[tuple[int, int]]


def scan(held: Entries, value: int, radius: int, limit: int | None = None) -> list[Match]:
    """Compare a fingerprint with every one that is held: what every faster index must answer.

    It shares no trick with the indexes.
    """
    near = sorted(
        (distance, number)
        for fingerprint, number in held
        if (distance := (fingerprint ^ value).bit_count()) <= radius
    )
    return [Match(number, distance) for distance, number in near[:limit]]


def scanned(
    stored: npt.NDArray[np.uint64], numbers: npt.NDArray[np.int64], value: int, radius: int
) -> list[Match]:
    """What ``scan`` answers (a test says so), fast enough for 100,000 entries."""
    distances = np.bitwise_count(stored ^ np.uint64(value))
    near = np.flatnonzero(distances <= radius).tolist()
    return sorted((Match(int(numbers[i]), int(distances[i])) for i in near), key=lambda m: m[::-1])


def planted(stored: npt.NDArray[np.uint64], count: int, flips: int, seed: int) -> list[int]:
    """Return values that are up to ``flips`` bits from stored ones, any bits."""
    source = np.random.default_rng(seed)
    values = []
    for value in source.choice(stored, count).tolist():
        bits = source.choice(64, int(source.integers(flips + 1)), replace=False)
        values.append(value ^ sum(1 << bit for bit in bits.tolist()))
    return values


def filled(held: Entries, radius: int, buffer_size: int = 4) -> HammingIndex:
    index = HammingIndex(radius=radius, buffer_size=buffer_size)
    for fingerprint, number in held:
        index.add(fingerprint, number)
    return index


def scattered(seed: int, count: int, permutations: int, values: int = 2**32) -> Signatures:
    """Signatures of values drawn from so few that some agree."""
    source = np.random.default_rng(seed)
    drawn: Signatures = source.integers(0, values, (count, permutations)).astype(np.uint32)
    return drawn


def promised_before_a_kill(module: str, path: Path, seed: int, chance: random.Random) -> int:
    """Let a process add and flush, kill it, and return how many entries it promised last."""
    words = ["-m", f"tests.neardup.indexes.{module}", str(path), str(seed)]
    return max(map(int, said_before_a_kill(words, chance, 0.3)))
