"""Write files of a mirror under temporary names, and move them to their place at once."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from crawler.mirror.paths import STATE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.mirror.handles import FolderHandles

_FOLDER = f"{STATE_FOLDER}/partial"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PartialFiles:
    """Temporary files on the file system of the mirror, each renamed or removed in the end.

    Files:
        .mirror/partial/PID-NUMBER
    """

    def __init__(self, handles: FolderHandles) -> None:
        self._handles = handles
        self._numbers = count()
        self._descriptor: int | None = None

    def close(self) -> None:
        """Close the folder of the temporary files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def clear(self) -> None:
        """Remove the files of killed processes.

        Raises:
            MirrorError: The folder cannot be made or emptied, or is a link.
        """
        folder = self._folder()
        for name in os.listdir(folder):
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as error:
                raise self._handles.refused("removed", f"{_FOLDER}/{name}", error) from error

    def write(self, path: str, data: bytes | Iterable[bytes]) -> str:
        """Write the content for a path, from bytes or from parts; return its temporary name.

        Raises:
            MirrorStorageError: The system refuses; nothing is left behind.
        """
        folder, name = self._folder(), self._new_name()
        try:
            descriptor = os.open(name, _NEW_FILE, 0o666, dir_fd=folder)
            with open(descriptor, "wb", buffering=0) as file:
                for part in (data,) if isinstance(data, bytes) else data:
                    rest = memoryview(part)
                    while rest:
                        rest = rest[file.write(rest) :]
        except OSError as error:
            self._drop(name)
            raise self._handles.refused("written", path, error) from error
        return name

    def link(self, source: int, existing: str) -> str:
        """Give a file in an open folder a temporary name too.

        Raises:
            OSError: The file system has no hard links, or allows no further one.
        """
        folder, name = self._folder(), self._new_name()
        os.link(existing, name, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
        return name

    def put(self, name: str, folder: int, path: str) -> None:
        """Move a file to its place, given by an open folder and the last part of a path.

        Raises:
            MirrorStorageError: The system refuses; the old file is untouched.
        """
        try:
            os.rename(name, path.rpartition("/")[2], src_dir_fd=self._folder(), dst_dir_fd=folder)
        except OSError as error:
            self._drop(name)
            raise self._handles.refused("written", path, error) from error

    def _folder(self) -> int:
        # Held open, so that it is not searched for every file: all names in it are ours.
        if self._descriptor is None:
            self._descriptor = os.dup(self._handles.folder(_FOLDER, create=True))
        return self._descriptor

    def _new_name(self) -> str:
        return f"{os.getpid()}-{next(self._numbers)}"

    def _drop(self, name: str) -> None:
        with suppress(OSError):  # the first error is the one to tell; the next start removes it
            os.unlink(name, dir_fd=self._folder())
