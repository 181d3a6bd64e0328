"""Links that wait for Redis: in order, each until it was taken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fleet.worker import BATCH, MAX_WAITING, Outbox
from crawler.frontier.request_records import QueuedLink
from crawler.frontier.seen import SeenKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = st.lists(st.integers(0, 30).map(lambda number: number.to_bytes(16)), max_size=60)


class TestSeenKeysProperties:
    @given(KEYS, st.integers(1, 8))
    def test_knows_only_what_was_added_and_all_that_is_recent(
        self, keys: list[bytes], generation: int
    ) -> None:
        recent = SeenKeys(generation)
        for number, key in enumerate(keys):
            is_new = recent.add(key)
            before = keys[:number]
            if is_new:
                assert key not in before[-generation + 1 :] or generation == 1
            else:
                assert key in before
            assert len(recent) <= 2 * generation

    @given(KEYS)
    def test_hands_a_key_over_once(self, keys: list[bytes]) -> None:
        recent = SeenKeys()
        for key in keys:
            is_new = recent.add(key)
            assert recent.take(key) == (key if is_new else None)
            assert recent.take(key) is None


def test_what_is_discarded_is_new_again() -> None:
    recent = SeenKeys()
    recent.add(b"a")
    recent.discard(b"a")
    assert b"a" not in recent
    assert recent.add(b"a")


def test_what_was_handed_over_stays() -> None:
    recent = SeenKeys()
    recent.add(b"a")
    recent.take(b"a")
    recent.discard(b"a")
    assert b"a" in recent


def test_what_the_fleet_has_is_not_new() -> None:
    recent = SeenKeys()
    recent.lower(b"a", 0)
    assert not recent.add(b"a")
    assert recent.take(b"a") is None


def link(number: int) -> QueuedLink:
    return QueuedLink(number.to_bytes(16), 1, f"http://example.com/{number}", 0, b"{}")


class Frontier:
    """Takes what is new; of the calls that are named, the answer is lost."""

    def __init__(self, *lost: int) -> None:
        self.taken: list[QueuedLink] = []
        self.calls = 0
        self._lost = lost

    async def push(self, links: Sequence[QueuedLink]) -> list[bool]:
        new = [one not in self.taken for one in links]
        self.taken += dict.fromkeys(one for one, is_new in zip(links, new, strict=True) if is_new)
        self.calls += 1
        if self.calls in self._lost:
            raise asyncio.CancelledError
        return new


def test_sends_everything_in_order() -> None:
    outbox: Outbox[str] = Outbox()
    links = [link(number) for number in range(2 * BATCH + 1)]
    for one in links:
        outbox.add(one)
    frontier = Frontier()
    asyncio.run(outbox.flush(frontier.push))
    assert frontier.taken == links
    assert frontier.calls == 3
    assert not len(outbox)


async def test_loses_nothing_where_it_is_stopped() -> None:
    outbox: Outbox[str] = Outbox()
    links = [link(number) for number in range(BATCH + 1)]
    for one in links:
        outbox.add(one)
    frontier = Frontier(1, 3)

    while len(outbox):
        try:
            await outbox.flush(frontier.push)
        except asyncio.CancelledError:
            assert len(outbox)
    assert frontier.taken == links


def test_tells_which_links_the_fleet_had() -> None:
    outbox: Outbox[str] = Outbox()
    for number, note in ((1, "one"), (2, None), (1, "again"), (2, None), (3, "three")):
        outbox.add(link(number), note)
    frontier = Frontier()
    frontier.taken.append(link(1))
    assert asyncio.run(outbox.flush(frontier.push)) == ["one", "again"]


@pytest.mark.parametrize(("links", "is_full"), [(MAX_WAITING - 1, False), (MAX_WAITING, True)])
def test_is_full_at_a_bound(links: int, is_full: bool) -> None:
    outbox: Outbox[str] = Outbox()
    for number in range(links):
        outbox.add(link(number))
    assert outbox.is_full is is_full
