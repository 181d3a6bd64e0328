"""Hold folders of a mirror as open descriptors, reached through no link; write partial files."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.errors import (
    MirrorStorageError,
    MissingFileError,
    PathTakenError,
    SymbolicLinkError,
    UnsafePathError,
)
from crawler.mirror.paths import STATE_FOLDER, path_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FOLDER = f"{STATE_FOLDER}/partial"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_OPEN_FOLDERS = 64
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Handle(NamedTuple):
    descriptor: int
    identity: tuple[int, int]  # device and inode
    prefixes: tuple[str, ...]  # the folders on the way to it


class FolderHandles:
    """Opens the folders below a root; the last 64 stay open.

    An open folder is reused only if the path to it still leads there, through real folders: a link
    that was put in between is found, at one system call for each part.
    """

    def __init__(self, root: Path) -> None:
        """Open the root, which may itself be reached through links.

        Raises:
            MirrorStorageError: There is no such folder, or it cannot be read.
        """
        self._name = str(root)
        try:
            self.root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise MirrorStorageError(
                f"{root} cannot be opened as a folder: {error.strerror}"
            ) from error
        self._open: OrderedDict[str, _Handle] = OrderedDict()

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1].descriptor)
        if self.root >= 0:
            os.close(self.root)
        self.root = -1  # no folder: the number may soon be that of another one

    def folder(self, path: str, *, create: bool = False) -> int:
        """Open the folder at a relative path, "" being the root; the caller must not close it.

        Raises:
            MissingFileError: There is none, and ``create`` is False.
            SymbolicLinkError: A part of the path is a symbolic link.
            PathTakenError: A part of the path is a file.
            MirrorStorageError: The system refuses.
        """
        if not path:
            return self.root
        handle = self._open.get(path)
        if handle is not None:
            if self._leads_to(handle, path):
                self._open.move_to_end(path)
                return handle.descriptor
            self.forget(path)
        return self._walk(path, create)

    def forget(self, path: str) -> None:
        """Close a folder, because it will be removed or is no longer where it was."""
        handle = self._open.pop(path, None)
        if handle is not None:
            os.close(handle.descriptor)

    def status(self, folder: int, path: str) -> os.stat_result | None:
        """Return the status of a path's last part, below an open folder, or None.

        Raises:
            MirrorStorageError: The system refuses.
        """
        try:
            return os.stat(path.rpartition("/")[2], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.refused("looked at", path, error) from error

    def refused(self, deed: str, path: str, error: OSError) -> MirrorStorageError:
        return MirrorStorageError(
            f"{self._name}/{path} cannot be {deed}: {error.strerror or error}"
        )

    @contextmanager
    def refusals(self, deed: str, path: str) -> Iterator[None]:
        """Let a refusal of the system be an error that names the deed and the path."""
        try:
            yield
        except OSError as error:
            raise self.refused(deed, path, error) from error

    def link_error(self, path: str) -> SymbolicLinkError:
        return SymbolicLinkError(
            f"{self._name}/{path} is a symbolic link, which a mirror never follows; "
            "remove it, or mirror into another folder"
        )

    def _leads_to(self, handle: _Handle, path: str) -> bool:
        try:
            for prefix in handle.prefixes:
                status = os.stat(prefix, dir_fd=self.root, follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    return False
            status = os.stat(path, dir_fd=self.root, follow_symlinks=False)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == handle.identity

    def _walk(self, path: str, create: bool) -> int:
        parts = path.split("/")
        prefixes = tuple("/".join(parts[:count]) for count in range(1, len(parts)))
        above = self.folder(prefixes[-1], create=create) if prefixes else self.root
        descriptor = self._open_folder(above, path, create)
        status = os.fstat(descriptor)
        self._open[path] = _Handle(descriptor, (status.st_dev, status.st_ino), prefixes)
        if len(self._open) > _OPEN_FOLDERS:
            os.close(self._open.popitem(last=False)[1].descriptor)
        return descriptor

    def _open_folder(self, above: int, path: str, create: bool) -> int:
        name = path.rpartition("/")[2]
        try:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            return os.open(name, _FOLDER_FLAGS, dir_fd=above)
        except FileNotFoundError as error:
            raise MissingFileError(f"there is no folder {self._name}/{path}") from error
        except NotADirectoryError as error:
            status = self.status(above, path)
            if status is not None and stat.S_ISLNK(status.st_mode):
                raise self.link_error(path) from error
            message = f"{self._name}/{path} is a file, where a folder is wanted"
            raise PathTakenError(message) from error
        except OSError as error:
            raise self.refused("opened", path, error) from error


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
            with self._handles.refusals("removed", f"{_FOLDER}/{name}"):
                os.unlink(name, dir_fd=folder)

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


def checked(path: str) -> str:
    """Return a path if it stays below the root and outside of the mirror's state.

    The check does not depend on the code that chose the path.

    Raises:
        UnsafePathError: It does not stay there.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path or "\\" in path:
        raise UnsafePathError(f"{path!a} is no path below a mirror")
    if path_key(parts[0]) == STATE_FOLDER:
        raise UnsafePathError(f"{path!a} belongs to the state of the mirror")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise UnsafePathError(f"{path!a} has a character that no name has") from error
    return path
