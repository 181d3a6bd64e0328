"""Links that wait for Redis: in order, each until it was taken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.outbox import BATCH, MAX_WAITING, Outbox
from crawler.frontier.redis.request_records import QueuedLink

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def test_loses_nothing_where_it_is_stopped() -> None:
    outbox: Outbox[str] = Outbox()
    links = [link(number) for number in range(BATCH + 1)]
    for one in links:
        outbox.add(one)
    frontier = Frontier(1, 3)

    async def flush() -> None:
        while len(outbox):
            try:
                await outbox.flush(frontier.push)
            except asyncio.CancelledError:
                assert len(outbox)

    asyncio.run(flush())
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
