"""A frontier written without a thought of memory or speed: the oracle of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.frontier.order import Load

MAX_TRIES = 2


@dataclass
class ModelRequest:
    """A request and how often it broke."""

    id: int
    host: int
    priority: int
    depth: int = 0
    tries: int = 0


class ModelQueue:
    """Lists that are sorted whenever something is asked of them."""

    def __init__(self) -> None:
        self.todo: list[ModelRequest] = []
        self.leased: dict[int, ModelRequest] = {}
        self.broken: list[ModelRequest] = []
        self.skipped: dict[int, list[ModelRequest]] = {}
        self.done: dict[int, ModelRequest] = {}
        self.again: set[int] = set()
        self.lines: dict[int, tuple[int, int]] = {}
        self._turn = 0

    def push(self, request_id: int, host: int, priority: int, depth: int = 0) -> None:
        self.todo.append(ModelRequest(request_id, host, priority, depth))
        self._stand(host, priority)

    def _stand(self, host: int, priority: int) -> None:
        if host not in self.lines or priority > self.lines[host][0]:
            self._turn += 1
            self.lines[host] = (priority, self._turn)

    def _queue_of(self, host: int) -> list[ModelRequest]:
        mine = [request for request in self.todo if request.host == host]
        return sorted(mine, key=lambda one: (-one.priority, one.depth, one.id))

    def lease(self, load: Load) -> ModelRequest | None:
        loads = {host: load(host) for host in self.lines}
        ready = [
            (-priority, under_way, turn, host)
            for host, (priority, turn) in self.lines.items()
            if (under_way := loads[host]) is not None
        ]
        if not ready:
            return None
        host = min(ready)[3]
        request, *rest = self._queue_of(host)
        self.todo.remove(request)
        self.leased[request.id] = request
        self._turn += 1
        del self.lines[host]
        if rest:
            self.lines[host] = (rest[0].priority, self._turn)
        return request

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        for request_id in ids:
            request = self.leased.pop(request_id)
            if failed:
                request.tries += 1
                self.broken.append(request)
            elif request_id in self.again:
                self.again.remove(request_id)
                self._wait_again(request)
            else:
                self.done[request_id] = request

    def lower(self, request_id: int, depth: int) -> bool:
        """Let a request be less deep; say whether it was deeper."""
        aside = [*self.broken, *(one for some in self.skipped.values() for one in some)]
        known = [*self.todo, *self.leased.values(), *self.done.values(), *aside]
        (request,) = (one for one in known if one.id == request_id)
        if depth >= request.depth:
            return False
        request.depth = depth
        if request in self.todo:
            self._step_back(request.host)
        elif request_id in self.leased:
            self.again.add(request_id)
        elif request_id in self.done:
            self._wait_again(self.done.pop(request_id))
        return True

    def _wait_again(self, request: ModelRequest) -> None:
        self.todo.append(request)
        self._step_back(request.host)

    def put_back(self, request_id: int, *, lower: bool) -> None:
        """A leased request waits again, perhaps less urgent."""
        request = self.leased.pop(request_id)
        request.priority -= lower
        self.again.discard(request_id)
        self.todo.append(request)
        self._stand(request.host, request.priority)

    def set_aside(self, request_id: int, rule: int) -> None:
        (request,) = (one for one in self.todo if one.id == request_id)
        self.todo.remove(request)
        self.skipped.setdefault(rule, []).append(request)
        self._step_back(request.host)

    def put_back_rule(self, rule: int) -> int:
        again = self.skipped.pop(rule, [])
        self._put_back(again)
        return len(again)

    def _step_back(self, host: int) -> None:
        """Whose requests were changed goes to the end of the line."""
        self.lines.pop(host, None)
        waiting = self._queue_of(host)
        if waiting:
            self._turn += 1
            self.lines[host] = (waiting[0].priority, self._turn)

    def reopen(self) -> None:
        """Another process: leases and what broke for the first time are todo again."""
        again = [request for request in self.broken if request.tries < MAX_TRIES]
        self.broken = [request for request in self.broken if request.tries >= MAX_TRIES]
        again += self.leased.values()
        self.leased.clear()
        self.again.clear()
        self._put_back(again)

    def _put_back(self, again: list[ModelRequest]) -> None:
        self.todo += again
        hosts: dict[int, list[int]] = {}
        for request in sorted(again, key=lambda request: request.id):
            hosts.setdefault(request.host, []).append(request.priority)
        for host, priorities in hosts.items():
            self._stand(host, max(priorities))

    def __len__(self) -> int:
        return len(self.todo)
