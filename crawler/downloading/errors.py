"""Why an answer is not taken.

::

    AnswerError
    |-- DamagedBodyError    its body cannot be decompressed
    |-- TooLargeError       it is larger than allowed when decompressed
    `-- HeadTooLargeError   its status line and headers are larger than allowed
"""

from __future__ import annotations


class AnswerError(Exception):
    """Root of what is wrong with an answer; the message says it in a few words."""


class DamagedBodyError(AnswerError):
    """A body cannot be decompressed."""


class TooLargeError(AnswerError):
    """A body is larger than allowed when decompressed."""


class HeadTooLargeError(AnswerError):
    """What stands before the body is larger than allowed."""
