"""How long it took to read pages and to prepare what is tried: may it be done once more?"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LITTLE_SECS = 5.0
SHARE_OF_TIME = 5
"""Pages that were replaced are read anew at once where that takes no longer than a little, else no
sooner than five times as long as it took: a crawl that fetches pages again replaces some each
second, and what was prepared must be of use for a while."""


class Effort:
    """What the pages that are open cost since they were opened."""

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
        """Whether it was little, or is long enough ago to be made again."""
        if self._secs <= LITTLE_SECS:
            return True
        return time.monotonic() >= self._began + SHARE_OF_TIME * self._secs
