"""What a worker asks of the crawl in its process, without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawler.frontier.pauses import SharedPause
    from crawler.frontier.request_records import Leased


class Fetcher:
    """Takes every request, and is at none before it is told so."""

    wants_more = True

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.rests: dict[int, float] = {}
        self.delays: dict[int, float] = {}
        self.losses = self.stops = 0
        self.resting: set[int] = set()
        self.pauses: dict[int, SharedPause | None] = {}
        self.taken: dict[int, SharedPause | None] = {}

    def watch(self) -> None:
        """Nothing waits for Redis."""

    def note_through(self) -> None:
        """Nothing is through."""

    def save(self) -> bool:
        return True

    def is_fixed(self, leased: Leased) -> bool:
        return leased.key is None

    def note_known(self, note: Any) -> None:
        """Nothing was redirected."""

    def most_of_a_host(self, host: int) -> int:
        return 0 if host in self.resting else 8

    def delay_secs(self, host: int) -> float:
        return self.delays.get(host, 0.0)

    def rest_secs(self, host: int) -> float:
        return self.rests.get(host, 0.0)

    def is_resting(self, host: int) -> bool:
        return host in self.resting

    def changed_pauses(self) -> dict[int, SharedPause | None]:
        return dict(self.pauses)

    def forget_changed(self, pauses: dict[int, SharedPause | None]) -> None:
        for host in pauses:
            del self.pauses[host]

    def take_over(self, host: int, pause: SharedPause | None) -> None:
        self.taken[host] = pause

    def wake(self) -> None:
        """Nobody sleeps."""

    def lose_all(self) -> None:
        self.losses += 1

    def stop(self) -> None:
        self.stops += 1

    def fail(self, reason: str) -> None:
        self.failures.append(reason)
