"""Define the errors of an answer that is not taken, and of a request that is not made.

::

    AnswerError
    |-- DamagedBodyError    its body cannot be decompressed
    |-- TooLargeError       it is larger than allowed when decompressed
    `-- HeadTooLargeError   its status line and headers are larger than allowed
"""

from __future__ import annotations


class RobotsUnreachableError(OSError):
    """A robots.txt cannot be fetched now, so that no page of its host may be requested.

    Args:
        reason: Cause of the failure.
        wanted_secs: Seconds for which the host asks to be left alone, or None.
    """

    def __init__(self, reason: str, wanted_secs: float | None = None) -> None:
        super().__init__(f"robots.txt cannot be had: {reason}")
        self.reason = reason
        self.wanted_secs = wanted_secs


class AnswerError(Exception):
    """The answer is not taken; the message says why in a few words."""


class DamagedBodyError(AnswerError):
    """The body cannot be decompressed."""


class TooLargeError(AnswerError):
    """The body is larger than allowed when decompressed."""


class HeadTooLargeError(AnswerError):
    """The status line and headers together are larger than allowed."""
