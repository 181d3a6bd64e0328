"""Measure the time to read pages and to prepare a choice, and say whether to repeat it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE_SECS = 5.0
SHARE_OF_TIME = 5
"""Pages that were replaced are read again at once if that takes at most LITTLE_SECS seconds.

Otherwise they are read again after SHARE_OF_TIME times as long as it took. A crawl that fetches
pages again replaces some each second, and prepared lists must be of use for a while.
"""


class Effort:
    """The time that the open pages took since they were opened."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._secs = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time that the block takes, however it ends."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._secs += time.monotonic() - started

    @property
    def may_be_repeated(self) -> bool:
        """Whether the time was short, or enough has passed since to take it again."""
        if self._secs <= LITTLE_SECS:
            return True
        return time.monotonic() >= self._began + SHARE_OF_TIME * self._secs
