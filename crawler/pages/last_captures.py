"""Read the latest captures of pages, each once while it is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.pages.page_row import PageRow


@dataclass(slots=True, weakref_slot=True, eq=False)
class LastCapture:
    """The latest capture of a page that was read.

    Attributes:
        row: The row, or None where nothing was read.
        is_current: False when the row may have changed since.
    """

    row: PageRow | None
    is_current: bool = True


class LastCaptures:
    """Reads the latest captures of pages, each once while it is held and unchanged.

    Every write to ``pages`` is noted here, so that no request goes on with an old row.

    Args:
        read: Reads the latest capture of a page that was read, by its key.
    """

    def __init__(self, read: Callable[[bytes], PageRow | None]) -> None:
        self._read = read
        self._held: WeakValueDictionary[bytes, LastCapture] = WeakValueDictionary()

    def get(self, key: bytes) -> LastCapture | None:
        return self._held.get(key)

    def hold(self, key: bytes) -> LastCapture:
        """Return the latest capture of a page for as long as the caller holds it."""
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = LastCapture(self._read(key))
        return held

    def note_change(self, key: bytes) -> None:
        """Have the latest capture of a page read again."""
        held = self._held.pop(key, None)
        if held is not None:
            held.is_current = False

    def note_changes(self) -> None:
        """Have all latest captures read again, since rows of any page were changed."""
        for key in list(self._held):
            self.note_change(key)
