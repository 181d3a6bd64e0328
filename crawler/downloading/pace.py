"""Tell at which hours of a day a crawl may run, and when it may read more bytes."""

from __future__ import annotations

import re
import time as clocks
from dataclasses import dataclass
from datetime import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_TIME = r"([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}))?"
_WINDOW = re.compile(rf"{_TIME}-{_TIME}")
_DAY_SECS = 86_400


@dataclass(frozen=True, slots=True)
class Hours:
    """A window of each day, in local time, which may go over midnight.

    Attributes:
        written: The window as it was written.
        opens: Its first moment.
        closes: The first moment after it.
    """

    written: str
    opens: time
    closes: time

    @classmethod
    def of(cls, written: str) -> Self:
        """Read a window such as ``22-6`` or ``22:30-6:15``; seconds may follow the minutes.

        Raises:
            ValueError: It is none, or has no length.
        """
        found = _WINDOW.fullmatch(written.replace(" ", ""))
        if found is not None:
            parts = [int(part or 0) for part in found.groups()]
            opens, closes = _clock(parts[:3]), _clock(parts[3:])
            if opens is not None and closes is not None and opens != closes:
                return cls(written, opens, closes)
        raise ValueError(f"hours such as 22-6 or 22:30-6:15 are wanted, got {written!r}")

    def is_open(self, now: datetime) -> bool:
        at = now.time()
        if self.opens < self.closes:
            return self.opens <= at < self.closes
        return at >= self.opens or at < self.closes

    def secs_until_open(self, now: datetime) -> int:
        """Return the seconds until the window opens next, on a day without a change of clocks."""
        return (_secs(self.opens) - _secs(now.time())) % _DAY_SECS


def _clock(parts: list[int]) -> time | None:
    """Return a time of day; 24:00 is midnight. None: there is no such time."""
    hour, minute, second = parts
    if parts == [24, 0, 0]:
        return time(0)
    try:
        return time(hour, minute, second)
    except ValueError:
        return None


def _secs(at: time) -> int:
    return at.hour * 3600 + at.minute * 60 + at.second


class TransferRate:
    """Tells after how long a connection may read again.

    Bytes that came are paid for with time: until ``bytes / rate`` seconds are over, nothing more is
    read. What a connection holds in its buffers goes beyond the rate at first, and is paid for.

    Args:
        bytes_per_sec: The rate.
        clock: Function that returns seconds, and never goes back.
    """

    def __init__(self, bytes_per_sec: int, clock: Callable[[], float] = clocks.monotonic) -> None:
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
