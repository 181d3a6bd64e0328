"""Pause hosts that refuse requests: none of their requests is leased meanwhile."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.storage.database import Database

MAX_BUDGETS = 6
"""Give up a host that refuses again after consecutive pauses of this many request budgets."""

MAX_SILENT_BUDGETS = 0.2
"""Give up a host that does not even answer after consecutive pauses of this share of a budget."""

_MAX_DOUBLINGS = 30

_WRITE = (
    "INSERT INTO host_pauses VALUES (?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (host) DO UPDATE SET"
    " name = excluded.name, until = excluded.until, number = excluded.number,"
    " waited_secs = excluded.waited_secs, pauses = pauses + ?,"
    " total_secs = total_secs + excluded.total_secs, reason = excluded.reason"
)


@dataclass(frozen=True, slots=True)
class PausePolicy:
    """Bounds of the pauses of hosts, and of the time that a request is waited for.

    Attributes:
        first_secs: The first pause of a host that does not say how long to wait; each further one
            in a row is twice as long.
        max_secs: The longest pause, whatever the host says.
        budget_secs: The time to wait for a request; if it is refused again after that, it has
            failed.
    """

    first_secs: float = 2.0
    max_secs: float = 600.0
    budget_secs: float = 600.0

    def pause_secs(self, number: int, wanted_secs: float | None = None) -> float:
        """Return the length of a host's pause.

        Args:
            number: Its number in a row of pauses without a good answer in between, from 1.
            wanted_secs: The pause that the host asks for. A host that refuses again after
                such a pause gets a growing one.
        """
        secs = self.first_secs * 2.0 ** min(number - 1, _MAX_DOUBLINGS)
        if wanted_secs is not None:
            secs = wanted_secs if number == 1 else max(secs, wanted_secs)
        return min(secs, self.max_secs)

    def is_spent(self, waited_secs: float, budgets: float = 1) -> bool:
        """Return whether a wait has reached a number of budgets.

        Pauses are summed, so that rounding must not decide.
        """
        budget_secs = budgets * self.budget_secs
        return waited_secs > budget_secs or math.isclose(waited_secs, budget_secs)


@dataclass(slots=True)
class HostPause:
    """The pause of a host, or its last one where it has not answered well since.

    Attributes:
        ends_at: Its end, by the monotonic clock.
        number: Its number in a row, from 1.
        waited_secs: Length of all pauses in a row, this one included.
        is_given_up: Whether the host is not requested again in this visit.
    """

    name: str
    ends_at: float
    number: int
    waited_secs: float
    reason: str
    is_given_up: bool = False

    @property
    def left_secs(self) -> float:
        """Seconds until it is over, 0 where it is."""
        return max(0.0, self.ends_at - time.monotonic())


class SharedPause(NamedTuple):
    """A pause as it is handed to another worker of a fleet."""

    name: str
    left_secs: float
    number: int
    waited_secs: float
    reason: str


class HostPauses:
    """Pauses hosts, in the table ``host_pauses``, so that a pause outlives the process.

    Memory holds the hosts that have not answered well since they refused.

    Attributes:
        after_change: Functions called with each host whose pauses began, grew longer or ended.
    """

    def __init__(self, database: Database, policy: PausePolicy) -> None:
        self._database = database
        self.policy = policy
        self.after_change: list[Callable[[int], None]] = []
        self._hosts: dict[int, HostPause] = {}
        self._restore()

    def _restore(self) -> None:
        now = time.time()
        rows = self._database.read(
            "SELECT host, name, until, number, waited_secs, reason FROM host_pauses"
            " WHERE number > 0 AND until > ?",
            (now,),
        )
        for host, name, until, number, waited_secs, reason in rows:
            # A clock that was set back must not make a pause longer.
            left_secs = min(max(0.0, until - now), self.policy.max_secs)
            ends_at = time.monotonic() + left_secs
            self._hosts[host] = HostPause(name, ends_at, number, waited_secs, reason)

    def __bool__(self) -> bool:
        """Return whether any host has not answered well since it refused."""
        return bool(self._hosts)

    def ends_at(self, host: int) -> float:
        """Return the end of a host's pause, by the monotonic clock; a past moment if none."""
        pause = self._hosts.get(host)
        return -math.inf if pause is None else pause.ends_at

    def left_secs(self, host: int) -> float:
        """Return the seconds that are left of a host's pause; 0 where it has none."""
        pause = self._hosts.get(host)
        return 0.0 if pause is None else pause.left_secs

    def resting(self) -> Iterator[HostPause]:
        """Yield the pauses that are not over; safe from another thread."""
        yield from (pause for pause in list(self._hosts.values()) if pause.left_secs)

    def given_up(self, host: int) -> HostPause | None:
        """Return the last pause of a host that is given up, None for any other host."""
        pause = self._hosts.get(host)
        return pause if pause is not None and pause.is_given_up else None

    def begin(
        self,
        host: int,
        name: str,
        reason: str,
        wanted_secs: float | None = None,
        *,
        is_silent: bool = False,
    ) -> float:
        """Pause a host; return for how many seconds.

        Requests that were under way together are refused together: they begin one pause. A host
        that refuses after pauses of ``MAX_BUDGETS`` budgets in a row is given up and not paused.
        ``MAX_SILENT_BUDGETS`` is the bound for one that does not answer.

        Args:
            host: Its number.
            name: Its name, for people.
            reason: Why it is paused.
            wanted_secs: The pause that it asks for, None where it does not say.
            is_silent: Whether it did not answer.
        """
        now = time.monotonic()
        last = self._hosts.get(host)
        budgets = MAX_SILENT_BUDGETS if is_silent else MAX_BUDGETS
        if last is not None and self._is_to_be_given_up(last, budgets):
            self._give_up(host, last, reason)
            return 0.0
        is_another = last is None or last.ends_at <= now
        number = 1 if last is None else last.number + is_another
        secs = self.policy.pause_secs(number, wanted_secs)
        ends_at, more_secs = now + secs, secs
        if last is not None and not is_another:
            more_secs = ends_at - last.ends_at
            if wanted_secs is None or more_secs <= 0:
                return last.ends_at - now
        waited_secs = more_secs + (0.0 if last is None else last.waited_secs)
        pause = self._hosts[host] = HostPause(name, ends_at, number, waited_secs, reason)
        self._write(host, pause, more_secs, pauses=is_another)
        return secs

    def _is_to_be_given_up(self, last: HostPause, budgets: float) -> bool:
        return not last.left_secs and self.policy.is_spent(last.waited_secs, budgets)

    def _give_up(self, host: int, last: HostPause, reason: str) -> None:
        if not last.is_given_up:
            last.is_given_up, last.reason = True, reason
            self._tell(host)

    def _write(self, host: int, pause: HostPause, more_secs: float, *, pauses: bool) -> None:
        until = time.time() + pause.left_secs
        row = (host, pause.name, until, pause.number, pause.waited_secs, more_secs, pause.reason)
        self._database.write(_WRITE, (*row, int(pauses)))
        self._tell(host)

    def answered(self, host: int) -> None:
        """Note a good answer of a host: its pauses in a row are over.

        An answer during a pause is ignored, since its request was sent before.
        """
        pause = self._hosts.get(host)
        if pause is not None and not pause.left_secs:
            self._forget(host)
            self._tell(host)

    def _forget(self, host: int) -> None:
        if self._hosts.pop(host, None) is not None:
            sql = "UPDATE host_pauses SET number = 0, waited_secs = 0 WHERE host = ?"
            self._database.write(sql, (host,))

    def _tell(self, host: int) -> None:
        for act in self.after_change:
            act(host)

    def shared(self, host: int) -> SharedPause | None:
        pause = self._hosts.get(host)
        if pause is None:
            return None
        return SharedPause(
            pause.name, pause.left_secs, pause.number, pause.waited_secs, pause.reason
        )

    def take_over(self, host: int, shared: SharedPause | None) -> None:
        """Adopt the pause of a host from the fleet, None where it answered well last."""
        self._forget(host)
        if shared is not None:
            ends_at = time.monotonic() + min(max(0.0, shared.left_secs), self.policy.max_secs)
            self._hosts[host] = HostPause(
                shared.name, ends_at, shared.number, shared.waited_secs, shared.reason
            )

    def begin_visit(self) -> None:
        """Forget the pauses of an earlier visit; a host that is paused stays so."""
        self._hosts = {host: pause for host, pause in self._hosts.items() if pause.left_secs}
        for pause in self._hosts.values():
            pause.waited_secs, pause.is_given_up = 0.0, False
        self._database.write("DELETE FROM host_pauses WHERE until <= ?", (time.time(),))
        self._database.write("UPDATE host_pauses SET waited_secs = 0, pauses = 0, total_secs = 0")


_MAX_DIGITS = 12
"""Read at most this many digits of a number of seconds: more of them exceed any pause."""


def retry_after_secs(value: str, date: str = "") -> float | None:
    """Return how long a server asks to wait, in seconds; None where that cannot be read.

    Args:
        value: Its header ``Retry-After``: seconds, or a date of HTTP (RFC 9110, section 10.2.3).
        date: Its header ``Date``, the clock for a date in ``value``.
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:_MAX_DIGITS])
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    try:
        now = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        now = time.time()
    return max(0.0, until - now)
