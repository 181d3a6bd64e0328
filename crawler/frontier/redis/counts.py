"""How much of everything a fleet has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OF_A_WORKER = 4


class WorkerCounts(NamedTuple):
    """What a worker holds."""

    leased: int
    parked: int
    hosts: int


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What a shard has; ``changes`` rises with whatever happens there."""

    workers: dict[str, WorkerCounts]
    changes: int
    waiting: int
    done: int
    failed: int
    hosts: int
    seen: int

    @classmethod
    def read(cls, answer: Sequence[Any]) -> ShardCounts:
        """From the answer of ``counts.lua``."""
        workers = {
            answer[at].decode(): WorkerCounts(*map(int, answer[at + 1 : at + _OF_A_WORKER]))
            for at in range(6, len(answer), _OF_A_WORKER)
        }
        return cls(workers, *map(int, answer[:6]))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits here and nothing is under way."""
        return not self.waiting and not any(own.leased for own in self.workers.values())


@dataclass(frozen=True, slots=True)
class Counts:
    """What the fleet has.

    Attributes:
        waiting: Requests that nobody has.
        leased: Requests under way.
        parked: Requests that their workers have, and do not make for now.
        done: Requests that are through.
        failed: Requests that broke too often.
        hosts: Hosts that have requests, are owned or rest.
        seen: Keys that were ever queued.
        workers: How many take part.
        is_finished: Whether at one moment nothing waited and nothing was under way, anywhere.
    """

    waiting: int
    leased: int
    parked: int
    done: int
    failed: int
    hosts: int
    seen: int
    workers: int
    is_finished: bool


def summed(shards: Sequence[ShardCounts], workers: int, *, is_finished: bool) -> Counts:
    """The counts of all shards together."""
    own = total(each for shard in shards for each in shard.workers.values())
    return Counts(
        waiting=sum(shard.waiting for shard in shards),
        leased=own.leased,
        parked=own.parked,
        done=sum(shard.done for shard in shards),
        failed=sum(shard.failed for shard in shards),
        hosts=sum(shard.hosts for shard in shards),
        seen=sum(shard.seen for shard in shards),
        workers=workers,
        is_finished=is_finished,
    )


def total(each: Iterable[WorkerCounts]) -> WorkerCounts:
    """The sum of what workers hold."""
    return WorkerCounts(*map(sum, zip(WorkerCounts(0, 0, 0), *each, strict=True)))
