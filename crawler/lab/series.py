"""How many pages were kept and dropped when: a bounded number of steps, however long it takes."""

from __future__ import annotations

from typing import NamedTuple

MOST_STEPS = 400


class Step(NamedTuple):
    """What had been counted by a moment.

    Attributes:
        at: Seconds since 1970.
        kept: Pages kept until then.
        dropped: Pages dropped until then.
    """

    at: float
    kept: int
    dropped: int


class Series:
    """Counts by time, in steps of one second, which double whenever there are too many."""

    def __init__(self) -> None:
        self.step_secs = 1
        self._steps: dict[int, tuple[int, int]] = {}

    def add(self, at: float, kept: int, dropped: int) -> None:
        """Count pages of a moment, in seconds since 1970; moments may come in any order."""
        self._put(int(at // self.step_secs), kept, dropped)
        while max(self._steps) - min(self._steps) >= MOST_STEPS:
            self._double()

    def _put(self, step: int, kept: int, dropped: int) -> None:
        ours, theirs = self._steps.get(step, (0, 0))
        self._steps[step] = ours + kept, theirs + dropped

    def _double(self) -> None:
        steps, self._steps = self._steps, {}
        self.step_secs *= 2
        for step, counts in steps.items():
            self._put(step // 2, *counts)

    def steps(self) -> list[Step]:
        """Sums from the beginning, where they are 0, to the end of each step; some hundred."""
        kept = dropped = 0
        found = [Step(float(min(self._steps) * self.step_secs), 0, 0)] if self._steps else []
        for step in sorted(self._steps):
            kept += self._steps[step][0]
            dropped += self._steps[step][1]
            found.append(Step(float((step + 1) * self.step_secs), kept, dropped))
        return found
