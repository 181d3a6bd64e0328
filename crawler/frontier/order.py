"""The order in which requests are leased, in memory, in ``crawl.db`` and in Redis.

Each host has a queue of its own: the most urgent request first, among equals the
least deep, then the oldest: breadth first, however long a page takes to answer.
Hosts wait in lines, a line for each priority; a host is in the line of its most
urgent request. The most urgent line is served first, its hosts in turn: a host that was
served, or got a more urgent request, goes to the end of the line.

A host that has no room in the downloader is passed over, and one that has requests
under way lets those with fewer go before it. So a slow host delays
no other: it gets the slots that the others leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import xxhash

Load = Callable[[int], int | None]
"""Returns the number of requests to a host (by number) under way, None if it has no room."""

MAX_DEPTH = 2**16 - 1
"""The greatest depth, in links from a seed; requests further away are as deep as one another."""

_SIGNED_BITS = 63


class NewRequest(NamedTuple):
    """A request that is to be queued.

    Attributes:
        host: The number of its host.
        url: Its URL.
        priority: Its priority; the higher, the sooner.
        request: The rest of it, in the form of the queue.
        key: Its key in the seen set; None where others may have it too.
        depth: Number of links that lead to it from a seed.
        is_fixed: Whether no rule may skip it.
        source: URL of the page that links to it; None where that is not known.
    """

    host: int
    url: str
    priority: int
    request: Any
    key: bytes | None = None
    depth: int = 0
    is_fixed: bool = False
    source: str | None = None


class QueuedRequest(NamedTuple):
    """A request of a queue, in the parts of ``NewRequest``."""

    id: int
    host: int
    url: str
    priority: int
    request: Any
    depth: int = 0
    is_fixed: bool = False


class Skip(NamedTuple):
    """The reason why a request is not made.

    Attributes:
        rule: Number of the rule; negative: of the cluster of URLs that is closed as a trap.
        group: Digest of its URL after the rules, the key to find it by.
    """

    rule: int
    group: bytes


class ShorterWay(NamedTuple):
    """A link to a page that was queued before, from nearer to a seed.

    Attributes:
        key: Request fingerprint of the page.
        depth: Number of links that lead to it now.
        again: The request that is queued to follow the page's links at their new depth, if the page
            was fetched already; None for a page whose links are not to be followed.
    """

    key: bytes
    depth: int
    host: int
    url: str
    priority: int
    again: Any


def host_number(name: str) -> int:
    """Return the number of a host: a hash of its name, so that no table of names is needed.

    Two hosts in 2**63 share a number, and then their turns, nothing else.
    """
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")) >> (64 - _SIGNED_BITS)


def next_in_turn(
    line: Iterable[tuple[int, int]], load: Load, at_least: int | None = None
) -> int | None:
    """Return the least loaded host with room in the most urgent line that has one, or None.

    Args:
        line: (host, priority), the most urgent first, and in turn where they are equal.
        load: Returns the load of a host.
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
