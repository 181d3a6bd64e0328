"""Read and write the files of a mirror: atomically, within their folder, through no link."""

from __future__ import annotations

import errno
import logging
import operator
import os
import stat
from functools import cache, partial
from typing import TYPE_CHECKING

from crawler.mirror.errors import (
    MirrorError,
    MirrorStorageError,
    MissingFileError,
    PathTakenError,
    SymbolicLinkError,
)
from crawler.mirror.handles import FolderHandles, PartialFiles, checked
from crawler.mirror.paths import STATE_FOLDER
from neardup.files.durable import Closing
from neardup.fingerprints.digest import PayloadHash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

logger = logging.getLogger(__name__)

_PIECE_BYTES = 2**20

# Not blocking: a pipe may be there instead.
_OLD_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class MirrorFolder(Closing):
    """Reads and writes files below a root, by relative paths with "/".

    A file is written under a temporary name and renamed, so that a path has its old content or its
    new one at any time, also after ``kill -9`` (not after a loss of power: that would cost a wait
    for the disk with every file). No symbolic link below the root is followed: one in a file's
    place is replaced by the file, which is logged, and its target is unchanged; one in a folder's
    place is refused. The root itself may be reached through one.

    One process writes at a time: it removes half-written files of others when it opens the folder.

    Files:
        .mirror/partial/*: files while they are written.
    """

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        """Open the folder, make it if needed, and remove the partial files of killed processes.

        Args:
            root: Folder of the mirror.
            read_only: Whether to make and remove nothing.

        Raises:
            MirrorStorageError: It cannot be made or opened.
            SymbolicLinkError: The folder of the mirror's state is a link.
        """
        self.root = root
        self._read_only = read_only
        if not read_only:
            try:
                root.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise MirrorStorageError(f"{root} cannot be made: {error.strerror}") from error
        self._handles = FolderHandles(root)
        self._partial = PartialFiles(self._handles)
        if not read_only:
            try:
                self._partial.clear()
            except MirrorError:
                self.close()
                raise

    def close(self) -> None:
        """Close the folder; nothing more is read or written. May be called twice."""
        self._partial.close()
        self._handles.close()

    def write(self, path: str, data: bytes | Iterable[bytes]) -> None:
        """Write a file at a path, from bytes or from parts, replacing any file there.

        Other names (hard links) of the old file keep the old content.

        Raises:
            UnsafePathError: The path leads out of the mirror or into its state.
            SymbolicLinkError: A folder on the way is a symbolic link.
            PathTakenError: A folder is there, or a file where a folder must be.
            MirrorStorageError: The system refuses; the old file is untouched.
        """
        folder = self._place(path)
        self._partial.put(self._partial.write(path, data), folder, path)

    def link(self, path: str, existing: str) -> None:
        """Give a file a second name, or a copy where the file system has no hard links.

        Whether it has them is found out by trying; that it has none is logged once.

        Raises:
            MirrorError: As `write` and `read`.
        """
        found, status = self._find(existing)
        source = os.dup(found)  # the next opening may close the other
        try:
            folder = self._place(path)
            there = self._handles.status(folder, path)
            if there is not None and os.path.samestat(there, status):
                return  # to rename one name over the other would leave both
            self._partial.put(self._partial.link(source, _last(existing)), folder, path)
        except OSError as error:
            if error.errno != errno.EMLINK:  # this one file has as many names as it may have
                _tell_of_copies(self.root, error.strerror)
            if not self.is_same(existing, path):
                with self.open(existing) as file:
                    self.write(path, pieces(file))
        finally:
            os.close(source)

    def take(self, source: int, name: str, path: str) -> None:
        """Move a file from an open folder of the mirror's state to a path. Raises as `write`."""
        folder = self._place(path)
        with self._handles.refusals("written", path):
            os.rename(name, _last(path), src_dir_fd=source, dst_dir_fd=folder)

    def state(self, name: str) -> int:
        """Open a folder of the mirror's state, made if it is missing; the caller closes it.

        Raises:
            MirrorError: It cannot be made, or is a link.
        """
        return os.dup(self._handles.folder(f"{STATE_FOLDER}/{name}", create=True))

    def read(self, path: str) -> bytes:
        """Read a file. Raises as `open`."""
        with self.open(path) as file, self._handles.refusals("read", path):
            return file.read()

    def digest(self, path: str) -> bytes:
        """Return the payload digest of a file, read piece by piece. Raises as `open`."""
        made = PayloadHash()
        with self.open(path) as file, self._handles.refusals("read", path):
            for piece in pieces(file):
                made.update(piece)
        return made.digest()

    def is_same(self, path: str, other: str) -> bool:
        """Return whether two files are there and have the same bytes."""
        try:
            with self.open(path) as one, self.open(other) as two:
                return have_same_bytes(one, two)
        except (MirrorError, OSError):
            return False

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading.

        Raises:
            UnsafePathError: The path leads out of the mirror or into its state.
            MissingFileError: No file is there.
            SymbolicLinkError: A part of the path is a symbolic link.
            PathTakenError: It is a folder, or no ordinary file.
            MirrorStorageError: The system refuses.
        """
        folder, _ = self._find(path)
        with self._handles.refusals("read", path):
            return open(os.open(_last(path), _OLD_FILE, dir_fd=folder), "rb")

    def exists(self, path: str) -> bool:
        """Return whether a file is there; a folder or a link is none. Else raises as `read`."""
        try:
            self._find(path)
        except (MissingFileError, PathTakenError, SymbolicLinkError):
            return False
        return True

    def stat(self, path: str) -> os.stat_result:
        return self._find(path)[1]

    def date(self, path: str, secs: float) -> None:
        """Set the time at which a file was changed, in seconds since 1970. Raises as `read`."""
        folder, status = self._find(path)
        if int(status.st_mtime) == int(secs):
            return
        self._check_writable()
        try:
            os.utime(_last(path), (secs, secs), dir_fd=folder, follow_symlinks=False)
        except (OSError, OverflowError) as error:
            raise MirrorStorageError(f"{self.root}/{path} cannot be dated: {error}") from error

    def remove(self, path: str) -> None:
        """Remove a file, and the folders that are empty without it. Raises as `read`."""
        folder, _ = self._find(path)
        self._check_writable()
        with self._handles.refusals("removed", path):
            os.unlink(_last(path), dir_fd=folder)
        above = path.rpartition("/")[0]
        while above and self._remove_folder(above):
            above = above.rpartition("/")[0]

    def paths(self, folder: str = "") -> Iterator[str]:
        """Yield the paths of ordinary files below a folder, by name, but for the mirror's state.

        Symbolic links are neither followed nor yielded. Files that are removed meanwhile are left
        out.
        """
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            files, folders = self._listed(path)
            yield from files
            waiting += (folder for folder in reversed(folders) if folder != STATE_FOLDER)

    def _check_writable(self) -> None:
        if self._read_only:
            raise MirrorStorageError(f"{self.root} was opened to be read only")

    def _listed(self, path: str) -> tuple[list[str], list[str]]:
        files, folders = [], []
        try:
            with os.scandir(self._handles.folder(path)) as entries:
                for entry in entries:
                    below = f"{path}/{entry.name}" if path else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(below)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(below)
        except MissingFileError:
            return [], []
        except OSError as error:
            raise self._handles.refused("listed", path, error) from error
        return sorted(files), sorted(folders)

    def _place(self, path: str) -> int:
        """Open the folder that a file goes into, and check that only a file is in its way."""
        self._check_writable()
        folder = self._handles.folder(checked(path).rpartition("/")[0], create=True)
        status = self._handles.status(folder, path)
        if status is not None and stat.S_ISLNK(status.st_mode):
            logger.warning(
                "%s/%s is a symbolic link: a file of the mirror takes its place, and what it leads "
                "to stays as it is",
                self.root,
                path,
            )
        elif status is not None and not stat.S_ISREG(status.st_mode):
            raise self._taken(path)
        return folder

    def _find(self, path: str) -> tuple[int, os.stat_result]:
        folder = self._handles.folder(checked(path).rpartition("/")[0])
        status = self._handles.status(folder, path)
        if status is None:
            raise MissingFileError(f"there is no file {self.root}/{path}")
        if stat.S_ISLNK(status.st_mode):
            raise self._handles.link_error(path)
        if not stat.S_ISREG(status.st_mode):
            raise self._taken(path)
        return folder, status

    def _taken(self, path: str) -> PathTakenError:
        return PathTakenError(f"{self.root}/{path} is a folder or a device, where a file is wanted")

    def _remove_folder(self, path: str) -> bool:
        above = self._handles.folder(path.rpartition("/")[0])
        try:
            os.rmdir(_last(path), dir_fd=above)
        except OSError:  # not empty, for the most part
            return False
        self._handles.forget(path)
        return True


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that fit into memory."""
    return iter(partial(file.read, _PIECE_BYTES), b"")


def have_same_bytes(one: BinaryIO, other: BinaryIO) -> bool:
    """Return whether two files have the same bytes, from where they are read. O(length)."""
    if os.fstat(one.fileno()).st_size != os.fstat(other.fileno()).st_size:
        return False
    return all(map(operator.eq, pieces(one), pieces(other)))


@cache  # each process tells it once
def _tell_of_copies(root: Path, reason: str) -> None:
    logger.warning(
        "%s: a file cannot be linked there (%s), so the same bytes are copied", root, reason
    )


def _last(path: str) -> str:
    return path.rpartition("/")[2]
