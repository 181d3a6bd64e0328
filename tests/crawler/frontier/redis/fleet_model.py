"""The frontier of a fleet written without a thought of memory or speed: the oracle of the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

MAX_TRIES = 2


@dataclass
class ModelRequest:
    """A request, who holds it and how often it broke."""

    number: int
    host: int
    page: str
    priority: int
    depth: int
    state: str = "waits"
    worker: int | None = None
    tries: int = 0

    @property
    def known(self) -> tuple[str, int, int]:
        return self.page, self.priority, self.tries

    @property
    def rank(self) -> tuple[int, int, int]:
        return -self.priority, self.depth, self.number


class FleetModel:
    """Lists that are sorted whenever something is asked of them."""

    def __init__(self) -> None:
        self._requests: dict[str, ModelRequest] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._owners: dict[int, int] = {}
        self._turns = count(1)
        self.done = self.failed = 0

    def push(self, host: int, name: str, priority: int, depth: int) -> bool:
        page = f"{host}/{name}"
        if page in self._requests:
            return False
        self._requests[page] = ModelRequest(len(self._requests), host, page, priority, depth)
        self._stand(host, priority)
        return True

    def _stand(self, host: int, priority: int) -> None:
        if host not in self._places or priority > -self._places[host][0]:
            self._places[host] = (-priority, next(self._turns))

    def _waiting(self, host: int) -> list[ModelRequest]:
        mine = [one for one in self._requests.values() if (one.host, one.state) == (host, "waits")]
        return sorted(mine, key=lambda one: one.rank)

    def _move(self, host: int) -> None:
        """To the end of the line, where anything waits."""
        self._places.pop(host, None)
        for first in self._waiting(host)[:1]:
            self._places[host] = (-first.priority, next(self._turns))

    def lease(
        self, worker: int, most: int, hosts: dict[int, int], most_hosts: int, room: int
    ) -> list[ModelRequest]:
        rooms = {host: more for host, more in hosts.items() if self._owners.get(host) == worker}
        leased: list[ModelRequest] = []
        while len(leased) < most:
            may_take = len(self.owned(worker)) < most_hosts
            ready = [
                (place, host)
                for host, place in self._places.items()
                if rooms.get(host, 0) > 0 or (may_take and host not in self._owners)
            ]
            if not ready:
                break
            host = min(ready)[1]
            if host not in self._owners:
                self._owners[host], rooms[host] = worker, room
            rooms[host] -= 1
            request = self._waiting(host)[0]
            request.state, request.worker = "leased", worker
            leased.append(request)
            self._move(host)
        return leased

    def _wait(self, request: ModelRequest) -> None:
        request.state, request.worker = "waits", None
        self._stand(request.host, request.priority)

    def finish(self, done: list[str], failed: list[str]) -> None:
        for page in done:
            self._requests[page].state = "done"
            self.done += 1
        for page in failed:
            request = self._requests[page]
            request.tries += 1
            if request.tries < MAX_TRIES:
                self._wait(request)
            else:
                request.state = "failed"
                self.failed += 1

    def park(self, pages: list[str]) -> None:
        for page in pages:
            self._requests[page].state = "parked"

    def unpark(self, worker: int, pages: list[str]) -> list[bool]:
        for page in pages:
            request = self._requests[page]
            if self._owners.get(request.host) == worker:
                request.state = "leased"
            else:
                self._wait(request)
        return [self._requests[page].state == "leased" for page in pages]

    def give_back(self, pages: list[str]) -> None:
        for page in pages:
            self._wait(self._requests[page])

    def release(self, worker: int, host: int) -> None:
        if self._owners.get(host) == worker:
            del self._owners[host]
            self._move(host)

    def die(self, worker: int) -> None:
        for state in ("leased", "parked"):
            for request in sorted(self.held(worker, state), key=lambda one: (one.host, *one.rank)):
                self._wait(request)
        for host in sorted(self.owned(worker)):
            self.release(worker, host)

    def held(self, worker: int, state: str) -> list[ModelRequest]:
        mine = (worker, state)
        return [one for one in self._requests.values() if (one.worker, one.state) == mine]

    def owned(self, worker: int) -> set[int]:
        return {host for host, owner in self._owners.items() if owner == worker}

    def counts(self) -> tuple[int, int, int]:
        """How many wait, are leased and parked."""
        states = [one.state for one in self._requests.values()]
        return states.count("waits"), states.count("leased"), states.count("parked")
