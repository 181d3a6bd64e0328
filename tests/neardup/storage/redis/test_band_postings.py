from __future__ import annotations

import math
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import Parameters, analyse, jaccard
from neardup.indexes.banding import max_unequal
from neardup.storage.redis import postings as module
from neardup.storage.redis import record_lists
from neardup.storage.redis.postings import (
    SKETCH_BYTES,
    RedisBands,
    are_similar,
    sharing,
    sketch_of,
)
from neardup.storage.redis.record_lists import RecordLists
from tests.neardup.storage.redis.running import using
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.storage.redis.server import Server

BANDS = st.lists(
    st.sampled_from([bytes(4), b"\0\0\0\1", b"\1\0\0\0", b"\0\x10\0\0", b"\xff\xff\xff\xff"]),
    min_size=16,
    max_size=16,
)
SKETCHES = st.one_of(BANDS.map(b"".join), st.binary(min_size=SKETCH_BYTES, max_size=SKETCH_BYTES))


def _found(url: str, stored: Sequence[tuple[bytes, int]], asked: bytes) -> list[int]:
    async def found(server: Server) -> list[int]:
        lists = RecordLists(server)
        bands = RedisBands(lists)
        for sketch, number in stored:
            await server.pipeline(lists.calls(bands.additions(sketch, number)))
        return await _sharing(server, asked)

    return using(url, found, None)


async def _sharing(server: Server, asked: bytes) -> list[int]:
    lists = RecordLists(server)
    stored = await lists.read(RedisBands(lists).questions(asked))
    found: list[int] = sharing(stored, asked).tolist()
    return found


def _shared(first: bytes, second: bytes) -> int:
    return sum(first[at : at + 4] == second[at : at + 4] for at in range(0, SKETCH_BYTES, 4))


def _unequal(first: bytes, second: bytes) -> int:
    return sum(ours != theirs for ours, theirs in zip(first, second, strict=True))


class TestBandsProperties:
    @given(
        asked=SKETCHES,
        stored=st.lists(SKETCHES, max_size=6),
        max_list=st.sampled_from([1, 2, 1024]),
        max_part=st.sampled_from([1, 2]),
    )
    @settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_finds_whatever_shares_a_band_most_bands_first(
        self, url: str, asked: bytes, stored: list[bytes], max_list: int, max_part: int
    ) -> None:
        numbers = [(1 << 39) + number for number in range(len(stored))]
        entries = list(zip(stored, numbers, strict=True))
        with mock.patch.multiple(record_lists, MAX_LIST=max_list, MAX_PART=max_part):
            # Twice, as after a reply that was lost.
            found = _found(url, [*entries, *entries], asked)
        counts = {number: _shared(asked, sketch) for sketch, number in entries}
        expected = sorted((n for n in numbers if counts[n]), key=lambda n: (-counts[n], n))
        assert found == expected

    @given(SKETCHES, st.lists(SKETCHES, max_size=4), st.integers(0, SKETCH_BYTES))
    def test_sketches_are_similar_where_a_band_and_enough_values_are_equal(
        self, asked: bytes, others: list[bytes], most: int
    ) -> None:
        rows = np.frombuffer(b"".join(others), np.uint8).reshape(-1, SKETCH_BYTES)
        assert are_similar(asked, rows, most).tolist() == [
            bool(_shared(asked, other)) and _unequal(asked, other) <= most for other in others
        ]


def test_the_5000th_text_of_a_band_finds_the_first_and_the_4500th(url: str) -> None:
    asked = bytes(SKETCH_BYTES)
    similar = {0, 4499, 4999}

    async def found(server: Server) -> list[int]:
        lists = RecordLists(server)
        bands = RedisBands(lists)
        calls = []
        for number in range(5000):
            # All share the first band; the second one with those that are similar alone.
            second = bytes(4) if number in similar else number.to_bytes(4)
            sketch = asked[:4] + second + asked[8:]
            calls += lists.calls(bands.additions(sketch, number)[:2])
        for start in range(0, len(calls), 1000):
            await server.pipeline(calls[start : start + 1000])
        return await _sharing(server, asked)

    assert using(url, found, None)[:4] == [*sorted(similar), 1]


def test_texts_that_share_the_most_bands_are_looked_at(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SHARING", 2)
    asked = bytes(SKETCH_BYTES)
    entries = [(bytes(4 * n) + b"\1" * (SKETCH_BYTES - 4 * n), n) for n in (1, 9, 5)]
    assert _found(redis_url, entries, asked) == [9, 5]


def test_sketches_differ_about_as_often_as_shingles() -> None:
    text = prose(1, 400)
    for count in (1, 5, 20, 60):
        other = changed(text, 7, count)
        first, second = (_sketch(each) for each in (text, other))
        share = 1 - _unequal(first, second) / SKETCH_BYTES
        similarity = jaccard(text, other)
        # Five times the standard error of 64 values.
        assert abs(share - similarity) < 5 * math.sqrt(0.25 / SKETCH_BYTES)


def _sketch(text: str) -> bytes:
    signature = analyse(text, Parameters()).signature
    assert signature is not None
    return sketch_of(signature)


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.8, 0.95])
def test_hardly_a_similar_pair_differs_in_more_values(similarity: float) -> None:
    most = max_unequal(1 - similarity)
    assert most < SKETCH_BYTES
    source = np.random.default_rng(1)
    differing = source.binomial(SKETCH_BYTES, 1 - similarity, 1_000_000)
    assert np.count_nonzero(differing > most) <= 2
    # One value less would lose pairs.
    tail = sum(
        math.comb(SKETCH_BYTES, k) * (1 - similarity) ** k * similarity ** (SKETCH_BYTES - k)
        for k in range(most, SKETCH_BYTES + 1)
    )
    assert tail > 1e-7


def test_equal_sets_differ_in_no_value_and_unlike_ones_in_any_number() -> None:
    assert max_unequal(0.0) == 0
    assert max_unequal(1.0) == SKETCH_BYTES
