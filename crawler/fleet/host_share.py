"""Which hosts a worker has, and which of them it is to leave to others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

IDLE_SECS = 1.0
"""A host of which nothing came for so long is given back: links to it may be on their way."""

PATIENCE = 2
"""So often in a row a worker is to have too many hosts before it leaves some."""


class HostShare:
    """The hosts that this worker owns.

    Hosts are shared out evenly, so that a worker that joins late gets some: whoever
    has more than its share fetches no more of the surplus and gives it back.

    Args:
        most: Hosts that one worker has at a time, at most.
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
        """Work out how many hosts each worker is to have."""
        self.share = max(1, min(self._most, math.ceil(hosts / max(workers, 1))))

    def note(self, host: int, now: float) -> None:
        """Note that something of a host came, or is still held."""
        self._active[host] = now

    def rooms(self, held: Mapping[int, int], most_of: Callable[[int], int]) -> dict[int, int]:
        """How many more requests of each host are welcome."""
        return {
            host: max(0, most_of(host) - held.get(host, 0))
            for host in self._active
            if host not in self._leaving
        }

    def surplus(self, held: Mapping[int, int], is_bound: Callable[[int], bool]) -> list[int]:
        """Hosts that are to be left to others from now on; each is told once.

        Args:
            held: Requests of hosts that are here; those with the fewest are left.
            is_bound: Whether a host has to stay, since this worker alone knows what a
                learned rule skips of it.
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
        """Hosts that can be given back: nothing of them is here, or will come soon."""
        # What was leased before a host was to be left may be skipped by a rule: so it stays.
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
        """Own hosts no more."""
        for host in list(hosts):
            self._active.pop(host, None)
            self._leaving.discard(host)

    def clear(self) -> None:
        """Own nothing."""
        self._active.clear()
        self._leaving.clear()
