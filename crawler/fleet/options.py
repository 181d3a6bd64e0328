"""What a worker of a fleet is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """Everything a worker is told by its settings.

    Attributes:
        url: Of the Redis that the fleet shares.
        name: Of the fleet.
        lease_secs: A worker that says nothing for so long is taken for dead.
        shards: Parts of the frontier, fixed when the fleet begins.
        max_hosts: Hosts that one worker asks at a time, at most.
        max_leased: Requests that one worker holds at a time, at most.
        delay_secs: Between two requests to a host that has no pace of its own.
        jitter: Which part of a delay it may be longer or shorter.
    """

    url: str
    name: str
    lease_secs: float
    shards: int
    max_hosts: int
    max_leased: int
    delay_secs: float
    jitter: float

    @property
    def rest_secs(self) -> float:
        """How long a host is left alone whose worker died."""
        return self.delay_secs * (1 + self.jitter)
