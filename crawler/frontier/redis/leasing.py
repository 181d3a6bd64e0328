"""Divide the requests that a worker wants among the shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.frontier.request_records import Leased


class Wish(NamedTuple):
    """The requests that a worker wants from a shard.

    Attributes:
        more_hosts: Number of hosts that it may own in addition.
        hosts: The hosts that it owns, with how many more requests each may have.
    """

    requests: int
    more_hosts: int
    hosts: Mapping[int, int]


class Leasing:
    """One lease of a worker, in rounds: if a shard has too few requests, the others are asked.

    Args:
        most: Number of requests, at most.
        more_hosts: Number of free hosts that may be owned in addition.
        room: Number of requests that each of those may have.
        hosts: Number of requests that each owned host may have in addition, by shard.
        order: The shards; the first ones are asked where there are fewer requests than shards.
    """

    def __init__(
        self,
        most: int,
        more_hosts: int,
        room: int,
        hosts: Mapping[int, Mapping[int, int]],
        order: Sequence[int],
    ) -> None:
        self.leased: list[Leased] = []
        self.taken: set[int] = set()
        self._most = most
        self._more_hosts = more_hosts
        self._room = room
        self._rooms = {shard: dict(rooms) for shard, rooms in hosts.items()}
        self._order = list(order)

    def wishes(self) -> dict[int, Wish]:
        """Return the wishes for this round, by shard; none where the lease is complete.

        Complexity: O(shards + hosts that are owned).
        """
        requests, more_hosts = self._most - len(self.leased), self._more_hosts - len(self.taken)
        asked = [one for one in self._order if more_hosts or self._rooms.get(one)][:requests]
        shares = zip(_shares(requests, asked), _shares(more_hosts, asked), strict=True)
        wishes = {
            shard: Wish(requests, more_hosts, self._rooms.get(shard, {}))
            for shard, (requests, more_hosts) in zip(asked, shares, strict=True)
        }
        return {one: wish for one, wish in wishes.items() if wish.more_hosts or wish.hosts}

    def answer(self, shard: int, wish: Wish, leased: Sequence[Leased]) -> None:
        """Note the answer of a shard; the shard is asked again where it may have more."""
        rooms = self._rooms.setdefault(shard, {})
        taken = {one.host for one in leased} - rooms.keys()
        rooms.update(dict.fromkeys(taken, self._room))
        for one in leased:
            rooms[one.host] -= 1
        self._rooms[shard] = {host: more for host, more in rooms.items() if more > 0}
        self.leased += leased
        self.taken |= taken
        if len(leased) == wish.requests:
            return
        if not wish.more_hosts:
            # Its free hosts may still be asked for, where another shard does not take them all.
            self._rooms[shard] = {}
        elif len(taken) < wish.more_hosts:
            self._order.remove(shard)


def _shares(number: int, among: Sequence[int]) -> list[int]:
    """Return a number in parts as equal as possible, the first the largest."""
    if not among:
        return []
    each, more = divmod(number, len(among))
    return [each + (at < more) for at in range(len(among))]
