"""Keep pictures of pages in a folder, the same picture once."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "screenshots"
"""Folder of the pictures in that of a crawl."""

_CONTENTS = "pictures"


class Pictures:
    """Pictures of pages as WebP files, by the keys of their URLs.

    A file is written under another name first, so that a killed process leaves a whole one or none.
    A page that is shown again has its last picture.

    Args:
        folder: Folder of a crawl.

    Files:
        screenshots/KEY.webp: the picture of a page, KEY being 32 hexadecimal digits.
        screenshots/pictures/DIGEST.webp: further names of the same files, one for each content;
            where there are no hard links, copies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def put(self, key: bytes, picture: bytes) -> None:
        """Store the picture of a page. Complexity: O(bytes).

        Raises:
            OSError: The system refuses.
        """
        content, place = self._content(picture), self._place(key)
        content.parent.mkdir(parents=True, exist_ok=True)
        before = place.read_bytes() if place.exists() else None
        if before == picture:
            return
        new = content.with_suffix(f".{os.getpid()}")
        if not content.exists():
            new.write_bytes(picture)
            new.replace(content)
        try:
            new.hardlink_to(content)
        except OSError:  # a file system without hard links
            shutil.copyfile(content, new)
        new.replace(place)
        if before is not None:
            self._drop_unused(self._content(before))

    def find(self, key: bytes) -> Path | None:
        """Return the file with the picture of a page, or None."""
        place = self._place(key)
        return place if place.is_file() else None

    def _content(self, picture: bytes) -> Path:
        return self._folder / _CONTENTS / f"{payload_digest(picture).hex()}.webp"

    def _place(self, key: bytes) -> Path:
        return self._folder / f"{key.hex()}.webp"

    def _drop_unused(self, content: Path) -> None:
        with suppress(OSError):
            if content.stat().st_nlink == 1:
                content.unlink()
