"""Who is dead: whose beats have not changed for the time-out, as this worker has seen itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Watch:
    """Looks at the beats of the others, by this process's own clock.

    No two clocks are compared, and a jump of the server's means nothing. Where this
    worker itself could not look for half the time-out, because the server was away or
    the process stood still, it begins to watch anew: the others may not have been able
    to beat either.

    Args:
        lease_secs: The time-out.
    """

    def __init__(self, lease_secs: float) -> None:
        self._lease_secs = lease_secs
        self._looked: float | None = None
        self._seen: dict[str, tuple[bytes, float]] = {}

    def dead(self, beats: Mapping[str, bytes], now: float) -> list[str]:
        """The workers whose last beat has stood for the time-out.

        Args:
            beats: The last beat of each worker.
            now: Seconds, monotonic.
        """
        if self._looked is None or now - self._looked > self._lease_secs / 2:
            self._seen.clear()
        self._looked = now
        self._seen = {name: self._since(name, beat, now) for name, beat in beats.items()}
        return [name for name, (_, since) in self._seen.items() if now - since >= self._lease_secs]

    def _since(self, name: str, beat: bytes, now: float) -> tuple[bytes, float]:
        before = self._seen.get(name)
        return before if before is not None and before[0] == beat else (beat, now)
