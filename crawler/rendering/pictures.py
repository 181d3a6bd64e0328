"""Keep pictures of pages in a folder, the same picture once."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from neardup.files.durable import own_folder, write_whole
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
        own_folder(self._folder)
        own_folder(content.parent)
        before = place.read_bytes() if _is_file(place) else None
        if before == picture:
            return
        if not _is_file(content):
            write_whole(content, picture)
        new = content.with_suffix(f".{os.getpid()}")
        new.unlink(missing_ok=True)
        try:
            new.hardlink_to(content)
            new.replace(place)
        except OSError:  # a file system without hard links
            write_whole(place, picture)
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


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
