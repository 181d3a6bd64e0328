"""When is a page to be visited again? Sooner where its content changes, later where not."""

from __future__ import annotations

import math
from dataclasses import dataclass

_HOUR_SECS = 3600.0
_DAY_SECS = 24 * _HOUR_SECS


@dataclass(frozen=True, slots=True)
class IntervalPolicy:
    """How the time between two visits of a page follows its changes.

    The rule of Apache Nutch's ``AdaptiveFetchSchedule``: multiply by a factor below one after a
    change and by one above it where there was none. There a change is any other digest; here a
    near-equal text is none. The interval comes to rest where the chance of a change at a visit
    is ``log(1 + longer) / (log(1 + longer) - log(1 - shorter))``: 0.49 with the defaults, so that
    about every other visit finds something new.

    Attributes:
        first_secs: Of a page that was just found.
        min_secs: Never shorter.
        max_secs: Never longer.
        shorter: How much of the interval a change takes away, 0 to 1.
        longer: How much of it is added where nothing changed.

    Raises:
        ValueError: The values contradict one another.
    """

    first_secs: float = 7 * _DAY_SECS
    min_secs: float = _HOUR_SECS
    max_secs: float = 90 * _DAY_SECS
    shorter: float = 0.3
    longer: float = 0.4

    def __post_init__(self) -> None:
        if not 0 <= self.min_secs <= self.max_secs:
            raise ValueError(
                "the shortest interval must not be longer than the longest, "
                f"got {self.min_secs} and {self.max_secs} seconds"
            )
        if not 0 <= self.shorter < 1:
            raise ValueError(f"shorter must be at least 0 and below 1, got {self.shorter}")
        if not 0 <= self.longer < math.inf:
            raise ValueError(f"longer must be finite and at least 0, got {self.longer}")

    def first(self) -> float:
        """The interval of a page that was just found, in seconds."""
        return self.bounded(self.first_secs)

    def after(self, interval_secs: float, *, changed: bool) -> float:
        """The interval that follows one, in seconds."""
        return self.bounded(interval_secs * self._factor(changed=changed))

    def before(self, interval_secs: float, *, changed: bool) -> float:
        """The interval that one followed, in seconds; too short where a bound cut that one off."""
        return interval_secs / self._factor(changed=changed)

    def _factor(self, *, changed: bool) -> float:
        return 1 - self.shorter if changed else 1 + self.longer

    def bounded(self, secs: float) -> float:
        """An interval that is neither too short nor too long."""
        return min(max(secs, self.min_secs), self.max_secs)
