"""What is asked of which shard, over shards that are lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.redis.shard import Leasing, Wish
from crawler.frontier.request_records import Leased

SHARDS = 4


class TestLeasingProperties:
    @given(
        st.dictionaries(st.integers(0, 15), st.integers(1, 6)),
        st.dictionaries(st.integers(16, 23), st.tuples(st.integers(0, 6), st.integers(1, 4))),
        st.integers(0, 40),
        st.integers(0, 12),
        st.integers(1, 4),
    )
    def test_a_worker_gets_all_that_it_may_have(
        self,
        free: dict[int, int],
        owned: dict[int, tuple[int, int]],
        most: int,
        more_hosts: int,
        room: int,
    ) -> None:
        waiting = free | {host: count for host, (count, _) in owned.items()}
        rooms: dict[int, dict[int, int]] = {}
        for host, (_, more) in owned.items():
            rooms.setdefault(host % SHARDS, {})[host] = more
        leasing = Leasing(most, more_hosts, room, rooms, range(SHARDS))
        mine = {host: more for host, (_, more) in owned.items()}
        while wishes := leasing.wishes():
            for shard, wish in wishes.items():
                leasing.answer(shard, wish, _lease(shard, wish, room, waiting, mine))
        of_owned = sum(min(count, more) for count, more in owned.values())
        assert len(leasing.leased) <= most
        assert leasing.taken == {one.host for one in leasing.leased} & free.keys()
        assert len(leasing.taken) <= more_hosts
        if more_hosts >= len(free):
            of_free = sum(min(count, room) for count in free.values())
            assert len(leasing.leased) == min(most, of_owned + of_free)
        else:
            assert len(leasing.leased) == most or len(leasing.taken) == more_hosts


def _lease(
    shard: int, wish: Wish, room: int, waiting: dict[int, int], mine: dict[int, int]
) -> list[Leased]:
    """What a shard hands out; ``mine`` is what each host of the worker may still have."""
    leased: list[Leased] = []
    more_hosts = wish.more_hosts
    for host in sorted(one for one in waiting if one % SHARDS == shard):
        if host in wish.hosts:
            assert wish.hosts[host] == mine[host]
        elif host in mine or not (more_hosts and waiting[host]) or len(leased) == wish.requests:
            continue
        else:
            more_hosts -= 1
            mine[host] = room
        while waiting[host] and mine[host] and len(leased) < wish.requests:
            waiting[host] -= 1
            mine[host] -= 1
            leased.append(Leased(b"", host, "", 0, None, b"", 0))
    return leased
