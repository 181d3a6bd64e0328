"""Decide which hosts a worker owns, and which it leaves to others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

IDLE_SECS = 1.0
"""Give back a host after this many idle seconds, since links to it may be on their way."""

PATIENCE = 2
"""Give hosts away after this many counts in a row with too many of them."""


class HostShare:
    """The hosts that this worker owns.

    Hosts are shared out evenly, so that a worker that joins late gets some: a worker with more than
    its share fetches no more from the surplus hosts and gives them back.

    Args:
        most: Maximum number of hosts of one worker.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._active: dict[int, float] = {}
        self._leaving: set[int] = set()
        self._too_many = 0
        self.share = 1

    def __len__(self) -> int:
        return len(self._active)

    def reckon(self, hosts: int, workers: int) -> None:
        self.share = max(1, min(self._most, math.ceil(hosts / max(workers, 1))))

    def note(self, host: int, now: float) -> None:
        """Record that requests of a host came, or are still held."""
        self._active[host] = now

    def rooms(self, held: Mapping[int, int], most_of: Callable[[int], int]) -> dict[int, int]:
        """Return for each host the number of further requests that fit."""
        return {
            host: max(0, most_of(host) - held.get(host, 0))
            for host in self._active
            if host not in self._leaving
        }

    def surplus(self, held: Mapping[int, int], is_bound: Callable[[int], bool]) -> list[int]:
        """Choose the hosts that are left to others from now on; each is returned once.

        Args:
            held: Number of requests of each host that are here; those with the fewest are left.
            is_bound: Predicate for a host that must stay, since only this worker knows its
                requests that a learned rule skips.
        """
        number = len(self._active) - len(self._leaving) - self.share
        self._too_many = self._too_many + 1 if number > 0 else 0
        if self._too_many < PATIENCE:
            return []
        staying = (host for host in self._active if host not in self._leaving)
        fewest_first = sorted(staying, key=lambda host: held.get(host, 0))
        chosen = [host for host in fewest_first if not is_bound(host)][:number]
        self._leaving.update(chosen)
        return chosen

    def idle(
        self, held: Mapping[int, int], is_bound: Callable[[int], bool], now: float
    ) -> list[int]:
        """Return the hosts that can be given back: none of their requests is here or due soon."""
        # A rule may skip a request that was leased before its host was chosen: the host stays then.
        self._leaving = {host for host in self._leaving if not is_bound(host)}
        for host in held:
            self.note(host, now)
        return [
            host
            for host, since in self._active.items()
            if host not in held
            and (host in self._leaving or now - since >= IDLE_SECS)
            and not is_bound(host)
        ]

    def forget(self, hosts: Iterable[int]) -> None:
        for host in list(hosts):
            self._active.pop(host, None)
            self._leaving.discard(host)

    def clear(self) -> None:
        self._active.clear()
        self._leaving.clear()
