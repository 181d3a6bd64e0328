"""A disk that is full for one new file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def full_for(path: Path) -> Iterator[None]:
    """Let the system have no room for what is written to a new file."""
    system_open = os.open

    def opened(name: str | Path, flags: int, mode: int = 0o777, **options: int) -> int:
        if os.fspath(name) == os.fspath(path) and flags & os.O_CREAT:
            return system_open("/dev/full", os.O_WRONLY)
        return system_open(name, flags, mode, **options)

    with patch("os.open", opened):
        yield
