"""The times when a server is waited for, said once at their beginning and once at their end."""

import logging
import time

_logger = logging.getLogger(__name__)


class Outage:
    """Counts the calls that wait.

    Other calls may succeed meanwhile: a full server goes on reading. It is over when no call waits.

    Args:
        name: Of the server, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls = 0
        self._began = 0.0
        self.reason: str | None = None
        """Why calls wait now, None where none does."""
        self.since: float | None = None
        """When the first of them began to wait, in seconds as ``time.time`` counts."""

    def begin(self, reason: str) -> None:
        """Note that one more call waits; to be followed by one ``end``."""
        self._calls += 1
        if self._calls == 1:
            self.since, self._began = time.time(), time.monotonic()
            _logger.warning("Redis at %s: %s; waiting for it", self._name, reason)
        self.reason = reason

    def end(self, *, answered: bool) -> None:
        """Note that one call waits no more: it was answered, or given up."""
        self._calls -= 1
        if self._calls:
            return
        self.reason = self.since = None
        if answered:
            passed = time.monotonic() - self._began
            _logger.warning("Redis at %s answers again after %.0f s", self._name, passed)
