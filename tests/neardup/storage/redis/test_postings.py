from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from neardup.indexes.arrays import Match
from neardup.storage.redis import record_lists as module
from neardup.storage.redis.postings import RedisBands, RedisPostings, near
from neardup.storage.redis.record_lists import Addition, RecordLists, posting, unpack
from neardup.storage.redis.server import Server
from tests.neardup.indexes.generated import scan
from tests.neardup.storage.redis.running import using

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

FINGERPRINTS = st.integers(0, 2**64 - 1)


@pytest.fixture
def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists and parts of two records each."""
    monkeypatch.setattr(module, "MAX_LIST", 2)
    monkeypatch.setattr(module, "MAX_PART", 2)


def _use(url: str, use: Callable[[Server, RecordLists], Awaitable[None]]) -> None:
    """Use lists of a server that nobody else uses."""
    using(url, lambda server: use(server, RecordLists(server)), None)


def _found(
    url: str, stored: Sequence[tuple[int, int]], asked: int, radius: int, blocks: int = 4
) -> list[Match]:
    async def found(server: Server) -> list[Match]:
        lists = RecordLists(server)
        postings = RedisPostings(lists, blocks=blocks)
        for fingerprint, number in stored:
            await server.pipeline(lists.calls(postings.additions(fingerprint, number)))
        numbers = near(await lists.read(postings.questions(asked, radius)), asked, radius)
        return list(map(Match, *(each.tolist() for each in numbers)))

    return using(url, found, None)


class TestPostingsProperties:
    @given(
        asked=FINGERPRINTS,
        flips=st.lists(st.lists(st.integers(0, 63), max_size=12), max_size=12),
        numbers=st.lists(st.integers(0, 2**40 - 1), min_size=12, max_size=12, unique=True),
        radius=st.integers(0, 8),
        blocks=st.integers(3, 6),
        max_list=st.sampled_from([1, 2, 3, 1024]),
        max_part=st.sampled_from([1, 3]),
    )
    @settings(
        max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_query_equals_the_scan(
        self,
        *,
        url: str,
        asked: int,
        flips: list[list[int]],
        numbers: list[int],
        radius: int,
        blocks: int,
        max_list: int,
        max_part: int,
    ) -> None:
        stored = []
        for places, number in zip(flips, numbers, strict=False):
            fingerprint = asked
            for place in places:
                fingerprint ^= 1 << place
            stored.append((fingerprint, number))
        with mock.patch.multiple(module, MAX_LIST=max_list, MAX_PART=max_part):
            # Twice, as after a reply that was lost.
            found = _found(url, [*stored, *stored], asked, radius, blocks)
        assert found == scan(stored, asked, radius)


def _postings(blocks: int) -> RedisPostings:
    """Return what tells the lists of a server that is not asked for them."""
    return RedisPostings(RecordLists(Server(Redis())), blocks=blocks)


class TestBlocksProperties:
    @given(
        fingerprint=FINGERPRINTS,
        places=st.lists(st.integers(0, 63), max_size=8, unique=True),
        blocks=st.integers(3, 6),
    )
    def test_whatever_is_within_the_radius_is_in_a_list_that_is_asked_for(
        self, fingerprint: int, places: list[int], blocks: int
    ) -> None:
        postings = _postings(blocks)
        asked = postings.questions(fingerprint, len(places))
        other = fingerprint ^ sum(1 << place for place in places)
        assert {addition.place for addition in postings.additions(other, 1)} & set(asked)

    @given(FINGERPRINTS, st.integers(3, 6), st.integers(0, 8))
    def test_no_list_is_asked_for_twice(self, fingerprint: int, blocks: int, radius: int) -> None:
        asked = _postings(blocks).questions(fingerprint, radius)
        assert len(asked) == len(set(asked))


def test_all_texts_are_found_where_all_blocks_are_common(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LIST", 3)
    monkeypatch.setattr(module, "MAX_PART", 2)
    found = _found(url, [(5, number) for number in range(10)], 5, 0)
    assert found == [Match(number, 0) for number in range(10)]


def test_of_a_list_without_end_the_first_texts_are_found_and_the_last(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"MAX_LIST": 3, "MAX_PART": 2, "MAX_READ_PARTS": 2}.items():
        monkeypatch.setattr(module, name, value)
    found = _found(redis_url, [(5, number) for number in range(20)], 5, 0)
    assert [match.id for match in found] == [*range(7), 19]


def test_a_part_that_is_full_is_read_once(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LIST", 3)
    monkeypatch.setattr(module, "MAX_PART", 2)

    async def use(server: Server, lists: RecordLists) -> None:
        place = lists.place(1, 7)
        for number in range(12):
            await _add(server, lists, [Addition(place, posting(number, number))])
            # Each reader sees all of it, whenever it has begun to read.
            for reader in (lists, RecordLists(server)):
                values, numbers = unpack(await reader.read([place]))
                assert values.tolist() == numbers.tolist() == [*range(number + 1)]
        # Four full parts were read before, and are not asked for.
        for part in range(1, 5):
            await server.run("HSET", place.key, place.field + part.to_bytes(2), b"")
        assert unpack(await lists.read([place]))[1].tolist() == [*range(12)]
        lists.forget()
        assert unpack(await lists.read([place]))[1].tolist() == [0, 1, 2, 11]

    _use(redis_url, use)


@pytest.mark.usefixtures("short_lists")
def test_a_full_part_is_read_again_where_its_loss_would_not_be_noticed(redis_url: str) -> None:
    async def use(server: Server, lists: RecordLists) -> None:
        place = lists.place(1, 7)
        for number in range(6):
            await _add(server, lists, [Addition(place, posting(number, number))])
        # The log was seen up to the number 4.
        lists.trust(5)
        assert unpack(await lists.read([place]))[1].tolist() == [*range(6)]
        # The server loses 5, and gives it again to a text of other lists.
        again = posting(4, 4) + posting(9, 6)
        await server.run("HSET", place.key, place.field + b"\0\2", again)
        assert unpack(await lists.read([place]))[1].tolist() == [0, 1, 2, 3, 4, 6]

    _use(redis_url, use)


@pytest.mark.usefixtures("short_lists")
def test_a_part_that_is_missing_costs_no_other_one(redis_url: str) -> None:
    async def use(server: Server, lists: RecordLists) -> None:
        place = lists.place(1, 7)
        for number in range(8):
            await _add(server, lists, [Addition(place, posting(number, number))])
        await server.run("HDEL", place.key, place.field + b"\0\2")
        for _ in range(2):
            assert unpack(await lists.read([place]))[1].tolist() == [0, 1, 2, 3, 6, 7]

    _use(redis_url, use)


@pytest.mark.usefixtures("short_lists")
def test_readers_who_meet_a_long_list_at_one_moment_read_it_once(redis_url: str) -> None:
    async def use(server: Server, lists: RecordLists) -> None:
        place = lists.place(1, 7)
        for number in range(9):
            await _add(server, lists, [Addition(place, posting(number, number))])
        stored = await server.run("HMGET", place.key, place.field)
        with mock.patch.object(server, "pipeline", wraps=server.pipeline) as asked:
            asking = [lists.completed([place], stored) for _ in range(5)]
            for completed in await asyncio.gather(*asking):
                assert unpack(completed)[1].tolist() == [*range(9)]
        firsts = [calls.args[0][0].args[2] for calls in asked.call_args_list]
        assert firsts == [1, 4, 4, 4, 4]

    _use(redis_url, use)


@pytest.mark.usefixtures("short_lists")
def test_many_long_lists_are_read_and_written_by_few_commands(redis_url: str) -> None:
    async def use(server: Server, lists: RecordLists) -> None:
        places = [lists.place(kind, kind) for kind in range(20)]
        for number in range(7):
            record = posting(number, number)
            before = await _commands(server)
            await _add(server, lists, [Addition(place, record) for place in places])
            # The script, perhaps twice, 20 lists, the numbers of their parts, these, what is
            # written, and INFO.
            assert await _commands(server) - before < 10
        before = await _commands(server)
        found = await lists.read(places)
        assert await _commands(server) - before < 10
        for stored in found:
            assert unpack([stored])[1].tolist() == [*range(7)]

    _use(redis_url, use)


async def _add(server: Server, lists: RecordLists, additions: Sequence[Addition]) -> None:
    await server.pipeline(lists.calls(additions))


async def _commands(server: Server) -> int:
    return int((await server.run("INFO", "stats"))["total_commands_processed"])


def test_the_example_of_a_place_is_true(redis_url: str) -> None:
    async def used(server: Server) -> None:
        lists = RecordLists(server)
        block, *_ = RedisPostings(lists).questions(0x0123456789ABCDEF, 0)
        assert (block.key, block.field) == ("p:l:0", bytes.fromhex("2000cdef"))
        _, _, band, *_ = RedisBands(lists).additions(bytes(8) + bytes.fromhex("0123abcd" * 14), 1)
        assert (band.place.key, band.place.field) == ("p:l:0", bytes.fromhex("02000123"))
        assert band.record == bytes.fromhex("abcd0100000000")

    using(redis_url, used, "p:")
