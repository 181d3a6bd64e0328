"""Bound the bytes that come in a second, over all connections together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class TransferRate:
    """Tells after how long a connection may read again.

    Bytes that came are paid for with time: until ``bytes / rate`` seconds are over, nothing more is
    read. What a connection holds in its buffers goes beyond the rate at first, and is paid for.

    Args:
        bytes_per_sec: The rate.
        clock: Function that returns seconds, and never goes back.
    """

    def __init__(self, bytes_per_sec: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_sec = bytes_per_sec
        self._clock = clock
        self._free_at = clock()

    def take(self, count: int) -> float:
        """Count bytes that came; return the seconds until more may be read."""
        now = self._clock()
        self._free_at = max(self._free_at, now) + count / self.bytes_per_sec
        return self._free_at - now

    def secs_to_wait(self) -> float:
        """Return the seconds until more may be read: 0 where that is now."""
        return max(self._free_at - self._clock(), 0.0)
