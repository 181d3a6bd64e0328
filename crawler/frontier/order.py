"""In which order requests are handed out, whoever holds them.

Each host has a queue of its own: the most urgent request first, among equals the
least deep, then the oldest: breadth first, however long a page takes to answer.
Hosts stand in lines, a line for each priority; a host stands in the line of its most
urgent request. The most urgent line is served first, its hosts in turn: who was
served, or came by a more urgent request, goes to the end of the line.

A host that has no room in the downloader is passed over, and one that is being
asked already lets those go before it that are asked less. So a slow host holds
nobody up: it gets what the others leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import xxhash

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Load = Callable[[int], int | None]
"""How many requests to a host (by number) are under way, None where there is no room for more."""

MAX_DEPTH = 2**16 - 1
"""Requests further than so many links from a seed are as deep as one another."""

_SIGNED_BITS = 63


class QueuedRequest(NamedTuple):
    """One request of a queue.

    Attributes:
        request: Whatever the owner handed over.
        depth: How many links lead there from a seed.
    """

    id: int
    host: int
    url: str
    priority: int
    request: Any
    depth: int = 0


class ShorterWay(NamedTuple):
    """A link to a page that was queued before, from nearer to a seed.

    Attributes:
        key: Fingerprint of the page's request.
        depth: How many links lead there now.
        host: As in a request.
        url: As in a request.
        priority: As in a request.
        again: Queued where the page was fetched already, to follow its links anew; None for a
            page whose links are not to be followed.
    """

    key: bytes
    depth: int
    host: int
    url: str
    priority: int
    again: Any


class Queue(Protocol):
    """Requests that wait, and those that are leased until ``finish`` says what became of them."""

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was queued in this visit yet."""

    def push(  # noqa: PLR0913  # what a request consists of
        self,
        host: int,
        url: str,
        priority: int,
        request: Any,
        key: bytes | None = None,
        *,
        depth: int = 0,
        is_fixed: bool = False,
    ) -> None:
        """Queue a request, with the key that it holds in the seen set where it holds one.

        One that is fixed is skipped by no rule.
        """

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request of a host with room; None where there is none."""

    def put_back(self, queued: QueuedRequest, *, is_changed: bool = False) -> None:
        """Let a leased request wait again; its priority and ``request`` may have changed."""

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        """End the leases of requests that are through, or of such as broke."""

    def lower(self, way: ShorterWay) -> None:
        """Let a page be as near to a seed as a shorter way is, wherever its request is by now."""

    def __len__(self) -> int:
        """Requests that wait."""

    def clear(self) -> None:
        """Forget every request, for another visit."""


def depth_of(meta: Mapping[str, Any]) -> int:
    """Return how many links lead to a request from a seed, as its ``meta`` says."""
    depth = meta.get("depth", 0)
    return min(depth, MAX_DEPTH) if isinstance(depth, int) and depth > 0 else 0


def host_number(name: str) -> int:
    """The number by which a host is known here: a hash, so that no table of names is needed.

    Two hosts in 2**63 share a number, and then their turns, nothing else.
    """
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")) >> (64 - _SIGNED_BITS)


def next_in_turn(
    line: Iterable[tuple[int, int]], load: Load, at_least: int | None = None
) -> int | None:
    """The host to be served: in the most urgent line where one has room, the least loaded.

    Args:
        line: (host, priority), the most urgent first, and in turn where they are equal.
        load: What is under way.
        at_least: The least priority that is served; None for any.

    Complexity: O(hosts that are under way); it reads no further than to one that is not.
    """
    chosen = least = urgency = None
    for host, priority in line:
        if urgency is not None and priority < urgency:
            break
        if at_least is not None and priority < at_least:
            break
        under_way = load(host)
        if under_way is None or (least is not None and under_way >= least):
            continue
        chosen, least, urgency = host, under_way, priority
        if under_way == 0:
            break
    return chosen
