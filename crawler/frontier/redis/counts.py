"""Count the requests, hosts, keys and workers of a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OF_A_SHARD, _OF_A_WORKER = 7, 4


class WorkerCounts(NamedTuple):
    """The requests and hosts that a worker holds."""

    leased: int
    parked: int
    hosts: int


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """The counts of a shard; ``changes`` rises with every change there."""

    workers: dict[str, WorkerCounts]
    changes: int
    waiting: int
    done: int
    failed: int
    hosts: int
    seen: int
    unreadable: int

    @classmethod
    def read(cls, answer: Sequence[Any]) -> ShardCounts:
        workers = {
            answer[at].decode(): WorkerCounts(*map(int, answer[at + 1 : at + _OF_A_WORKER]))
            for at in range(_OF_A_SHARD, len(answer), _OF_A_WORKER)
        }
        return cls(workers, *map(int, answer[:_OF_A_SHARD]))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits here and nothing is under way."""
        return not self.waiting and not any(own.leased for own in self.workers.values())


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of the fleet.

    Attributes:
        waiting: Number of requests that no worker has.
        parked: Number of requests that their workers have, and do not make for now.
        failed: Number of requests that broke too often.
        hosts: Number of hosts that have requests, are owned or are paused.
        unreadable: Number of records that are no requests and were put aside.
        is_finished: Whether at one moment nothing waited and nothing was under way, anywhere.
    """

    waiting: int
    leased: int
    parked: int
    done: int
    failed: int
    hosts: int
    seen: int
    unreadable: int
    workers: int
    is_finished: bool


def summed(shards: Sequence[ShardCounts], workers: int, *, is_finished: bool) -> Counts:
    own = total(each for shard in shards for each in shard.workers.values())
    return Counts(
        waiting=sum(shard.waiting for shard in shards),
        leased=own.leased,
        parked=own.parked,
        done=sum(shard.done for shard in shards),
        failed=sum(shard.failed for shard in shards),
        hosts=sum(shard.hosts for shard in shards),
        seen=sum(shard.seen for shard in shards),
        unreadable=sum(shard.unreadable for shard in shards),
        workers=workers,
        is_finished=is_finished,
    )


def total(each: Iterable[WorkerCounts]) -> WorkerCounts:
    return WorkerCounts(*map(sum, zip(WorkerCounts(0, 0, 0), *each, strict=True)))
