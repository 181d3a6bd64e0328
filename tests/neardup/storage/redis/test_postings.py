from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup.indexes.arrays import Match
from neardup.storage.redis import postings as module
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.postings import Cutting, PostingPlace, RedisPostings
from tests.neardup.indexes.scan import ScanIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

FINGERPRINTS = st.integers(0, 2**64 - 1)


def _found(
    url: str, stored: Sequence[tuple[int, int]], asked: int, radius: int, blocks: int = 4
) -> list[Match]:
    async def found() -> list[Match]:
        server = await connect(url, f"{uuid.uuid4()}:")
        try:
            postings = RedisPostings(server, blocks=blocks)
            for fingerprint, number in stored:
                await postings.add(fingerprint, number)
            return await postings.query(asked, radius)
        finally:
            await server.close()

    return asyncio.run(found())


class TestPostingsProperties:
    @given(
        asked=FINGERPRINTS,
        flips=st.lists(st.lists(st.integers(0, 63), max_size=12), max_size=12),
        numbers=st.lists(st.integers(0, 2**40 - 1), min_size=12, max_size=12, unique=True),
        radius=st.integers(0, 8),
        blocks=st.integers(3, 6),
    )
    @settings(
        max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_query_equals_the_scan(
        self,
        url: str,
        asked: int,
        flips: list[list[int]],
        numbers: list[int],
        radius: int,
        blocks: int,
    ) -> None:
        stored = []
        scan = ScanIndex(radius=radius)
        for places, number in zip(flips, numbers, strict=False):
            fingerprint = asked
            for place in places:
                fingerprint ^= 1 << place
            stored.append((fingerprint, number))
            scan.add(fingerprint, number)
        # Twice, as after a reply that was lost.
        assert _found(url, [*stored, *stored], asked, radius, blocks) == scan.query(asked)


class TestCuttingProperties:
    @given(
        fingerprint=FINGERPRINTS,
        places=st.lists(st.integers(0, 63), max_size=8, unique=True),
        blocks=st.integers(3, 6),
    )
    def test_whatever_is_within_the_radius_is_in_a_list_that_is_asked_for(
        self, fingerprint: int, places: list[int], blocks: int
    ) -> None:
        cutting = Cutting(blocks)
        probes = cutting.probes(fingerprint, len(places))
        other = fingerprint ^ sum(1 << place for place in places)
        assert any(
            place.field in probes.get((place.block, place.bucket), [])
            for place in cutting.places(other)
        )

    @given(FINGERPRINTS, st.integers(3, 6), st.integers(0, 8))
    def test_no_list_is_asked_for_twice(self, fingerprint: int, blocks: int, radius: int) -> None:
        for fields in Cutting(blocks).probes(fingerprint, radius).values():
            assert len(fields) == len(set(fields))


def test_a_common_value_of_a_block_does_not_make_lists_grow_without_end(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LIST", 3)
    # All are equal in their lowest block and in their highest, and found by the others.
    stored = [(number << 16 | number << 40, number) for number in range(1, 9)]
    for fingerprint, number in stored:
        assert _found(redis_url, stored, fingerprint, 0) == [Match(number, 0)]
    # Where all blocks are common, those that came first are found.
    assert [match.id for match in _found(redis_url, [(5, n) for n in range(6)], 5, 0)] == [0, 1, 2]


def test_the_example_of_the_documentation_is_true() -> None:
    lowest, *_ = Cutting(4).places(0x0123456789ABCDEF)
    assert lowest == PostingPlace(0, 0xC, bytes.fromhex("0def"))
