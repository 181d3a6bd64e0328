"""Define every error that reading raises on purpose.

::

    ReadingError
    |-- PoolClosedError     the pool was closed before the page was read: nothing is known of it
    `-- WorkerStartError    workers do not start; the message says what the last one said

A fault of one page is no error but the ``failure`` of its reading.
"""

from __future__ import annotations


class ReadingError(Exception):
    """Root of every error that reading raises on purpose."""


class PoolClosedError(ReadingError):
    """A page was not read because the pool was closed, or not started."""


class WorkerStartError(ReadingError):
    """Worker processes end before they are ready."""
