"""Pages of a folder of HTML files, read as a crawl reads them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from crawler.lab.sources.gathering import FileSource, Told, complaint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SLICE = 64
"""Few enough that the first pages are shown within a second or two."""

_NAME = re.compile(r"\.(?:x?html?|shtml)(?:[?@&].*)?\Z", re.IGNORECASE)
"""Names of files with HTML; programs that save sites append a query to the ending."""

MAX_BYTES = 32 * 1024 * 1024
"""The largest size of a file in bytes: the profile's DOWNLOAD_MAXSIZE."""


def html_files(folder: Path) -> Iterator[Path]:
    """Yield the HTML files in a folder and below it, in the order of their names.

    Hidden folders and folders that are symbolic links are left out.
    """
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if _NAME.search(name):
                yield folder / above / name


class HtmlFolderSource(FileSource):
    """The HTML files of a folder, each under its ``file:`` URL; other files are not looked at.

    Nothing says what encoding a file has but the file itself.

    Args:
        folder: The folder.

    Raises:
        SourceError: The folder cannot be looked through.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._files = list(html_files(folder.resolve()))
        except OSError as error:
            raise complaint(folder, error) from None
        super().__init__(folder)
        self._place = 0

    @property
    def notes(self) -> Sequence[str]:
        return self._left_out.notes("files") + self._gathering.notes

    def _next(self) -> Iterator[Told] | None:
        first, self._place = self._place, min(self._place + _SLICE, len(self._files))
        self._progress = self._place / (len(self._files) or 1)
        # One after the other: each file may be of MAX_BYTES.
        return self._tell(self._files[first : self._place]) if first < self._place else None

    def _tell(self, files: Sequence[Path]) -> Iterator[Told]:
        for file in files:
            try:
                if not file.is_file():
                    self._left_out.add("no files, or links that lead nowhere")
                elif file.stat().st_size > MAX_BYTES:
                    self._left_out.add(f"larger than {MAX_BYTES >> 20} MiB")
                else:
                    yield Told(file.as_uri(), "", None, file.read_bytes(), "text/html")
            except OSError as error:
                self._left_out.add(error.strerror or str(error))
