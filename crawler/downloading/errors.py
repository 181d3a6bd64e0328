"""Why an answer is not taken, or a request not made.

::

    AnswerError
    |-- DamagedBodyError    its body cannot be decompressed
    |-- TooLargeError       it is larger than allowed when decompressed
    `-- HeadTooLargeError   its status line and headers are larger than allowed
"""

from __future__ import annotations


class RobotsUnreachableError(OSError):
    """A robots.txt cannot be had now, so that nothing may be asked for.

    Args:
        reason: Why.
        wanted_secs: How long its host asks to be left alone, None where it does not say.
    """

    def __init__(self, reason: str, wanted_secs: float | None = None) -> None:
        super().__init__(f"robots.txt cannot be had: {reason}")
        self.wanted_secs = wanted_secs


class AnswerError(Exception):
    """Root of what is wrong with an answer; the message says it in a few words."""


class DamagedBodyError(AnswerError):
    """A body cannot be decompressed."""


class TooLargeError(AnswerError):
    """A body is larger than allowed when decompressed."""


class HeadTooLargeError(AnswerError):
    """What stands before the body is larger than allowed."""
