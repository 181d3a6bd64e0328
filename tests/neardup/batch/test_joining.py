"""The join of texts that are near, against comparing all with all; no Spark is needed for it."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters, hamming, jaccard, minhash
from neardup.batch.joining import JoinLimits, JoinRows, _pairs
from neardup.batch.schemes import (
    Bands,
    Blocks,
    cheapest_blocks,
    differing_share,
    scheme_of,
    sketches_of,
)
from neardup.indexes.banding import max_unequal
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from neardup.features.hashing import Hashes
    from neardup.fingerprints.minhash import Signature

pytestmark = pytest.mark.slow

FAR = 64
Found = list[tuple[int, int, int]]


def joined(
    fingerprints: list[int], scheme: Blocks, limits: JoinLimits, batch: int = 1 << 14
) -> Found:
    """What the join finds among fingerprints whose ids are their places."""
    values = np.array(fingerprints, np.uint64)
    keys = scheme.keys(values, None)
    places = np.repeat(np.arange(len(values)), scheme.tables)
    order = np.lexsort((places, keys.ravel()))
    nothing = np.zeros(len(order), np.uint64)
    rows = JoinRows(keys.ravel()[order], places[order], values[places[order]], *[nothing] * 2)
    parts = (
        JoinRows._make(column[start : start + batch] for column in rows)
        for start in range(0, len(order), batch)
    )
    return [
        found
        for first, second, distances, _ in _pairs(parts, scheme.masks, limits)
        for found in zip(first.tolist(), second.tolist(), distances.tolist(), strict=True)
    ]


def limits(radius: int, **others: int) -> JoinLimits:
    return JoinLimits(radius, FAR, radius, 0, 1 << 12, *[1 << 6] * 3)._replace(**others)


@st.composite
def fingerprints(draw: st.DrawFn) -> list[int]:
    """Some values, and others a few bits from them."""
    source = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6))
    flips = st.lists(st.integers(0, 63), max_size=10)
    found = []
    for value in source:
        for bits in draw(st.lists(flips, min_size=1, max_size=6)):
            for bit in bits:
                value ^= 1 << bit  # noqa: PLW2901  (a walk)
            found.append(value)
    return draw(st.permutations(found))


class TestJoinProperties:
    @settings(deadline=None, max_examples=60)
    @given(fingerprints(), st.integers(0, 8), st.integers(1, 3), st.integers(1, 50))
    def test_it_finds_each_near_pair_once(
        self, values: list[int], radius: int, more: int, batch: int
    ) -> None:
        found = joined(values, Blocks(radius, radius + more), limits(radius), batch)
        wanted = [
            (one, other, hamming(values[one], values[other]))
            for one, other in itertools.combinations(range(len(values)), 2)
            if hamming(values[one], values[other]) <= radius
        ]
        assert sorted(found) == wanted

    @settings(deadline=None, max_examples=30)
    @given(fingerprints(), st.integers(0, 8), st.integers(0, 40))
    def test_of_two_older_texts_nothing_is_said(
        self, values: list[int], radius: int, first_new: int
    ) -> None:
        scheme = Blocks(radius, radius + 1)
        every = joined(values, scheme, limits(radius))
        found = joined(values, scheme, limits(radius, first_new=first_new))
        assert sorted(found) == sorted(pair for pair in every if pair[1] >= first_new)


@pytest.mark.parametrize("batch", [1 << 14, 777])
def test_a_key_that_all_share_makes_no_square(batch: int) -> None:
    texts, most = 20_000, 4
    few = limits(3, max_found=16, max_of_many=most, nearest_of_many=most, max_compared=100)
    found = joined([7] * texts, Blocks(3, 4), few, batch)
    pairs = [(first, later) for first, later, _ in found if first != later]
    per_text = np.bincount([later for _, later in pairs], minlength=texts)
    assert per_text[:17].tolist() == list(range(17))
    assert per_text[65:].max() == 2 * most
    assert len(pairs) == len(set(pairs))
    # Each is compared with the first one, which is kept; so nothing but this one is.
    assert {later for first, later in pairs if first == 0} == set(range(1, texts))
    # Those that were not compared with all of their key are told.
    assert {first for first, later, _ in found if first == later} == set(range(201, texts))


def test_of_a_hot_key_the_earliest_similar_and_the_nearest_are_taken() -> None:
    center = 0x123456789ABCDEF0
    far = [center ^ (0b11111 << place % 59) for place in range(200)]
    some = limits(8, similar=2, max_found=16, max_of_many=2, nearest_of_many=2)
    copies = [center ^ 1, center ^ 2, center ^ 4]
    found = joined([*far, *copies, center], Blocks(8, 9), some)
    assert {(first, distance) for first, later, distance in found if later == 203} >= {
        (200, 1),
        (201, 1),
    }
    nearer = center ^ 0b111
    found = joined([*far, nearer, center], Blocks(8, 9), some)
    assert (200, 201, 3) in found


def test_the_last_texts_of_a_hot_key_are_compared_too() -> None:
    source = random.Random(1)
    strangers = [source.getrandbits(48) << 16 for _ in range(5_000)]
    late = strangers[-1] ^ (1 << 40)
    found = joined([*strangers, late], Blocks(3, 4), limits(3, max_compared=50))
    assert (4_999, 5_000, 1) in found


def signature(text: str) -> Signature:
    """The signature of a run."""
    return minhash(text, permutations=64, shingle_size=5)


def unequal(ours: Hashes, theirs: Hashes) -> int:
    """How many values of two bits differ."""
    pairs = np.unpackbits((ours ^ theirs).view(np.uint8)).reshape(-1, 2)
    return int(pairs.any(axis=1).sum())


@pytest.mark.parametrize("similarity", [0.5, 0.8, 0.95])
def test_sketches_of_similar_texts_are_never_too_far(similarity: float) -> None:
    most = max_unequal(differing_share(similarity))
    assert (1 - similarity) * 0.75 * 64 < most < 64
    compared = 0
    # A changed word takes five of some 300 shingles away, and brings five others.
    words = int(296 * (1 - similarity) / (5 * (1 + similarity)))
    for seed in range(60):
        text = prose(seed, 300)
        other = changed(text, seed, words)
        if jaccard(text, other) < similarity:
            continue
        ours, theirs = sketches_of(np.stack([signature(text), signature(other)]))
        compared += 1
        assert unequal(ours, theirs) <= most
    assert compared > 20


def test_sketches_of_other_texts_are_too_far() -> None:
    sketches = sketches_of(np.stack([signature(prose(seed, 300)) for seed in range(60)]))
    pairs = list(itertools.combinations(sketches, 2))
    assert all(unequal(one, other) > max_unequal(differing_share(0.8)) for one, other in pairs)


def test_bands_bring_nearly_all_similar_texts_together() -> None:
    bands = scheme_of(Parameters(), 100)
    assert bands == Bands(16, 4)
    met = 0
    for seed in range(100):
        text = prose(seed, 300)
        signatures = [signature(one) for one in (text, changed(text, seed, 4))]
        one, other = bands.keys(np.zeros(2, np.uint64), np.array(signatures))
        met += bool((one == other).any())
    assert met == 100


def test_texts_meet_by_blocks_where_distance_alone_decides() -> None:
    scheme = scheme_of(Parameters(verify=False, max_distance=2), 10**6)
    assert isinstance(scheme, Blocks)
    assert scheme.radius == 2
    assert cheapest_blocks(3, 10**3).blocks <= cheapest_blocks(3, 10**10).blocks


@pytest.mark.parametrize("radius", [0, 3, 8])
@pytest.mark.parametrize("texts", [1, 10**4, 10**6, 10**8, 10**10])
def test_keys_of_blocks_are_not_shared_by_very_many(radius: int, texts: int) -> None:
    scheme = cheapest_blocks(radius, texts)
    assert texts / 2**scheme.bits <= 1 << 13
    assert scheme.tables == len(scheme.masks)
