"""Spellings of a URL, in ``crawl.db`` and in Redis, against what the words say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.frontier.frontier import MAX_OTHERS, StoredSpellings
from crawler.frontier.request_records import QueuedLink
from crawler.storage.database import Database
from tests.crawler.frontier.redis.fleet import worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.frontier.redis.shared_frontier import RedisFrontier

KEY = b"k" * 16
CANONICAL = "http://example.com/p"
SPELLED = [f"http://example.com/p?utm_source={number}" for number in range(7)]


class Model:
    """What is to be asked, in so many words."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self.asked: list[str] = []
        self.failed: list[str] = []

    def meet(self, url: str) -> str | None:
        met = [*self.known, *self.asked, *self.failed]
        if url in met or len(met) >= MAX_OTHERS + 2 * bool(self.failed):
            return None
        if self.failed and not self.known and not self.asked:
            self.asked.append(url)
            return url
        self.known.append(url)
        return None

    def fail(self, url: str) -> str | None:
        for some in (self.known, self.asked, self.failed):
            if url in some:
                some.remove(url)
        self.failed.append(url)
        if self.asked:
            return None
        is_first = CANONICAL not in self.failed
        following = CANONICAL if is_first else next(iter(self.known), None)
        if following is not None:
            self.known = [one for one in self.known if one != following]
            self.asked.append(following)
        return following


class InSqlite:
    """The table of a crawl that is alone, opened anew at each step."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder)

    @property
    def _spellings(self) -> StoredSpellings:
        return StoredSpellings(self.database)

    def meet(self, url: str) -> str | None:
        if not self._spellings.is_wanted(KEY, url):
            return None
        return url if self._spellings.note_asked(KEY, url) else None

    def fail(self, url: str) -> str | None:
        following = self._spellings.replacement(KEY, [url], CANONICAL)
        if following is not None:
            assert self._spellings.note_asked(KEY, following)
        return following

    def clear(self) -> None:
        self._spellings.clear()


class InRedis:
    """The hash of a fleet."""

    def __init__(self, frontier: RedisFrontier) -> None:
        self._frontier = frontier

    async def begin(self) -> None:
        assert await self._frontier.push([QueuedLink(KEY, 1, "first", 0, b"r")]) == [True]
        (found,) = await self._frontier.lease(5, {1: 5}, most_hosts=5)
        assert found.url == "first"

    async def meet(self, url: str) -> str | None:
        return await self._push(QueuedLink(KEY, 1, url, 0, b"of a link", is_spelling=True))

    async def fail(self, url: str) -> str | None:
        return await self._push(QueuedLink(KEY, 1, CANONICAL, 0, b"as before", failed=(url,)))

    async def _push(self, link: QueuedLink) -> str | None:
        (is_queued,) = await self._frontier.push([link])
        found = await self._frontier.lease(5, {1: 5}, most_hosts=5)
        assert len(found) == is_queued
        for one in found:
            assert (one.key, one.request) == (None, link.request)
        return found[0].url if found else None


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[InSqlite]:
    store = InSqlite(tmp_path)
    yield store
    store.database.close()


EVENTS = st.lists(st.tuples(st.booleans(), st.sampled_from(SPELLED)), max_size=25)


class TestSpellingsProperties:
    """Both stores say what the model says, whatever is met and fails in whatever order."""

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(EVENTS)
    def test_table_says_what_the_model_says(
        self, stored: InSqlite, events: list[tuple[bool, str]]
    ) -> None:
        stored.clear()
        model, under_way = Model(), ["first"]
        for is_failure, url in events:
            if is_failure and under_way:
                one = under_way.pop()
                following = model.fail(one)
                assert stored.fail(one) == following
            else:
                following = model.meet(url)
                assert stored.meet(url) == following
            under_way += [following] if following else []
            assert len(under_way) <= 1

    def test_redis_says_what_the_model_says(self, redis_url: str) -> None:
        prefixes = iter(range(1000))

        @settings(max_examples=40)
        @given(EVENTS)
        def check(events: list[tuple[bool, str]]) -> None:
            asyncio.run(play(events, f"fleet{next(prefixes)}"))

        async def play(events: list[tuple[bool, str]], prefix: str) -> None:
            async with worker(redis_url, prefix=prefix, shards=1) as frontier:
                store = InRedis(frontier)
                await store.begin()
                model, under_way = Model(), ["first"]
                for is_failure, url in events:
                    if is_failure and under_way:
                        one = under_way.pop()
                        following = model.fail(one)
                        assert await store.fail(one) == following
                    else:
                        following = model.meet(url)
                        assert await store.meet(url) == following
                    under_way += [following] if following else []

        check()


def test_a_key_is_asked_a_bounded_number_of_times(stored: InSqlite) -> None:
    asked, under_way = 0, "first"
    for number in range(1_000):
        stored.meet(f"http://example.com/p?sid={number}")
    while under_way:
        asked += 1
        under_way = stored.fail(under_way) or ""
    assert asked == MAX_OTHERS + 2
    assert stored.database.read("SELECT count(*) FROM spellings").fetchone() == (asked,)


def test_a_failure_that_is_told_twice_asks_nothing_more(stored: InSqlite) -> None:
    assert stored.meet(SPELLED[0]) is None
    assert stored.fail("http://example.com/p?first") == CANONICAL
    assert stored.fail("http://example.com/p?first") is None
    assert stored.fail(CANONICAL) == SPELLED[0]


def test_what_is_the_same_for_a_server_is_one_spelling(stored: InSqlite) -> None:
    assert stored.fail("HTTP://example.com:80/p#there") is None
    assert stored.meet("http://@EXAMPLE.com./p") is None
    assert stored.fail(CANONICAL) is None
