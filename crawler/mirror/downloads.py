"""Write large bodies to the disk while they come, so that a download goes on after ``kill -9``."""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from crawler.mirror.documents.linked_document import may_be_document
from crawler.mirror.errors import MirrorError, MirrorStorageError
from crawler.mirror.folder import have_same_bytes, pieces
from crawler.pages.page_context import StoredPart
from crawler.reading.content_types import SNIFFED_BYTES, why_not_html
from neardup.fingerprints.digest import PayloadHash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from crawler.mirror.folder import MirrorFolder
    from crawler.storage.database import Database

NOTED_BYTES = 2**22
"""Note the digest of a body each time this many bytes came: others are requested again."""

_FOLDER = "downloads"
_PIECE_BYTES = 2**20
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Download:
    """A body in a file of its own, complete or on its way.

    Attributes:
        key: Key of the URL.
        etag: Strong ETag of its version; None if the rest cannot be requested.
        head: The first bytes of the body.
        size: Bytes of the body so far.
        came: Those of them that came with the answer, and not with an earlier one.
        is_copy: Whether the first bytes are in a file of the mirror too.
    """

    def __init__(self, downloads: Downloads, key: bytes, etag: str | None, file: BinaryIO) -> None:
        self.key = key
        self.etag = etag
        self.head = b""
        self.size = 0
        self.came = 0
        self.is_copy = False
        self._downloads = downloads
        self._file = file
        self._hash = PayloadHash()
        self._noted_bytes = 0

    @property
    def name(self) -> str:
        """The name of the file in the folder of downloads."""
        return self.key.hex()

    @property
    def digest(self) -> bytes:
        """Payload digest of the body so far."""
        return self._hash.digest()

    def write(self, data: bytes) -> None:
        """Write the next bytes that came.

        Raises:
            MirrorError: The system refuses.
            CrawlStorageError: The database cannot be written.
        """
        self._put(data)
        self.came += len(data)
        if self.size - self._noted_bytes >= NOTED_BYTES:
            self.note()

    def _put(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _refused(error) from error
        self.take(data)

    def take(self, data: bytes) -> None:
        """Count bytes that are in the file."""
        if len(self.head) < SNIFFED_BYTES:
            self.head += data[: SNIFFED_BYTES - len(self.head)]
        self._hash.update(data)
        self.size += len(data)

    def read_back(self, size: int, digest: bytes, source: BinaryIO | None = None) -> bool:
        """Take the first bytes of a body but the last, and close the file.

        The last byte is requested again: a server has no answer to a request for the rest of a
        body that is complete.

        Args:
            size: Number of the bytes.
            digest: Their digest.
            source: File that they are copied from; None: this file has them.

        Returns:
            Whether these are the bytes.

        Raises:
            MirrorError: The system refuses to write the copy.
        """
        left = size - 1
        file = self._file if source is None else source
        add = self.take if source is None else self._put
        with self._file, suppress(OSError, ValueError):  # the latter if it is closed meanwhile
            while left and (piece := file.read(min(left, _PIECE_BYTES))):
                add(piece)
                left -= len(piece)
            last = self._hash.copy()
            last.update(file.read(1))
            return not left and last.digest() == digest
        return False

    def go_on(self) -> None:
        """Open the file again for the rest of the body.

        Raises:
            MirrorError: The system refuses.
        """
        self._file = self._downloads.open(self.name, _OLD_FILE)
        self.note()
        self._file.seek(self.size)
        self._file.truncate()

    def note(self) -> None:
        """Store how far the body has come, if its rest can be requested."""
        self._noted_bytes = self.size
        if self.etag is not None and self.size:
            self._downloads.note(self, self.etag)

    def end(self) -> None:
        """Close the file, whether it is complete or not. May be called twice."""
        if not self._file.closed:
            self._file.close()
            if self.came:
                self.note()

    def open(self) -> BinaryIO:
        """Open the file for reading, when it has ended. Raises as ``Downloads.open``."""
        return self._downloads.open(self.name, _OLD_FILE)

    def convert(self, change: Callable[[Iterable[bytes]], Iterable[bytes]]) -> bytes:
        """Replace the body by what is made of its pieces; return its first bytes.

        Where that fails, the body is as it was. No rest of it can be requested then.

        Raises:
            MirrorError: The system refuses.
            Exception: What ``change`` raises.
        """
        self.etag = None
        with self._downloads.converted(self.key) as file, self.open() as source:
            made = Download(self._downloads, self.key, None, file)
            for piece in change(pieces(source)):
                made.write(piece)
        self.head, self.size, self._hash = made.head, made.size, made._hash
        return self.head

    def release(self) -> None:
        """Leave the bytes where they were, if no more came."""
        if not self.came and self.is_copy:
            self.drop()

    def drop(self) -> None:
        """Remove the file."""
        self._downloads.drop(self.key)


class Downloads:
    """The large bodies of a mirror that are on their way.

    A body is written to its file from the first byte, and becomes a file of the mirror by a new
    name. Of one that a process did not finish the rest alone is requested, if it came with a strong
    ETag. What was noted of it is compared with the file before that.

    Args:
        database: The crawl's database.
        folder: Folder of the mirror.

    Files:
        .mirror/downloads/KEY: the first bytes of a body, by the key of the URL in hexadecimal.
        .mirror/downloads/KEY.new: a body while its coding is undone.

    Raises:
        MirrorError: The folder cannot be made or emptied.
    """

    def __init__(self, database: Database, folder: MirrorFolder) -> None:
        self._database = database
        self._folder = folder
        self._under_way: WeakValueDictionary[bytes, Download] = WeakValueDictionary()
        self._descriptor = folder.state(_FOLDER)
        self._noted: set[bytes] = set()
        self._clear()

    def close(self) -> None:
        """Note how far the bodies have come."""
        for download in list(self._under_way.values()):
            download.end()
        os.close(self._descriptor)

    def _clear(self) -> None:
        """Remove the files without a note."""
        self._noted = {key for (key,) in self._database.read("SELECT key FROM downloads")}
        noted = {key.hex() for key in self._noted}
        for name in os.listdir(self._descriptor):
            if name not in noted:
                self._unlink(name)

    def begin(self, key: bytes, etag: str | None) -> Download | None:
        """Begin a file for a body; return None where one with the same key is under way.

        Args:
            key: Key of the URL.
            etag: Header of that name.

        Raises:
            MirrorError: The system refuses.
        """
        if key in self._under_way:
            return None
        self.drop(key)
        strong = etag if etag is not None and etag.startswith('"') else None
        return self._opened(key, strong, _NEW_FILE)

    def go_on(self, key: bytes) -> Download | None:
        """Open the file that ``part`` or ``copy`` made ready for the rest of a body.

        Raises:
            MirrorError: The system refuses.
        """
        download = self._under_way.get(key)
        if download is not None:
            download.go_on()
        return download

    async def part(self, key: bytes) -> StoredPart | None:
        """Return how far the body of a URL came, if its rest can be requested.

        Its bytes are compared with what was noted of them, in a thread.
        """
        row = self._row(key)
        if row is None or key in self._under_way:
            return None
        etag, size, digest = row
        with suppress(MirrorError):  # it was removed
            download = self._opened(key, etag, _OLD_FILE)
            if await asyncio.to_thread(download.read_back, size, digest):
                return StoredPart(etag, download.size, None, download)
        self.drop(key)
        return None

    async def copy(
        self, key: bytes, etag: str, path: str, size: int, digest: bytes
    ) -> StoredPart | None:
        """Begin a body with a file of the mirror, if that has this size and digest.

        Raises:
            MirrorError: The system refuses.
        """
        with self._folder.open(path) as file:
            download = self.begin(key, etag)
            if download is None:
                return None
            if await asyncio.to_thread(download.read_back, size, digest, file):
                download.is_copy = True
                return StoredPart(etag, download.size, None, download)
        self.drop(key)
        return None

    def _opened(self, key: bytes, etag: str | None, flags: int) -> Download:
        download = Download(self, key, etag, self.open(key.hex(), flags))
        self._under_way[key] = download
        return download

    @contextmanager
    def converted(self, key: bytes) -> Iterator[BinaryIO]:
        """Yield a file that becomes that of a body once it is written. Raises as ``open``."""
        name = f"{key.hex()}.new"
        try:
            with self.open(name, _NEW_FILE) as file:
                yield file
            os.rename(name, key.hex(), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except OSError as error:
            raise _refused(error) from error
        finally:
            self._unlink(name)

    def open(self, name: str, flags: int) -> BinaryIO:
        """Open the file of a body.

        Raises:
            MirrorError: The system refuses.
        """
        try:
            descriptor = os.open(name, flags, 0o666, dir_fd=self._descriptor)
        except OSError as error:
            raise _refused(error) from error
        return open(descriptor, "r+b", buffering=0)

    def _row(self, key: bytes) -> tuple[str, int, bytes] | None:
        if key not in self._noted:  # few are, and each answer asks
            return None
        sql = "SELECT etag, size, digest FROM downloads WHERE key = ?"
        found: tuple[str, int, bytes] | None = self._database.read(sql, (key,)).fetchone()
        return found

    def note(self, download: Download, etag: str) -> None:
        """Store how far a body has come."""
        self._noted.add(download.key)
        self._database.write(
            "INSERT OR REPLACE INTO downloads VALUES (?, ?, ?, ?)",
            (download.key, etag, download.size, download.digest),
        )

    def put(self, download: Download, path: str) -> None:
        """Make a body a file of the mirror. Raises as ``MirrorFolder.write``."""
        download.end()
        self._folder.take(self._descriptor, download.name, path)
        self._forget(download.key)

    def is_same(self, download: Download, path: str) -> bool:
        """Return whether a file of the mirror has the bytes of a body."""
        with (
            suppress(MirrorError, OSError),
            self._folder.open(path) as one,
            open(os.open(download.name, _OLD_FILE, dir_fd=self._descriptor), "rb") as other,
        ):
            return have_same_bytes(one, other)
        return False

    def drop(self, key: bytes) -> None:
        """Remove the file of a body, and what was noted of it."""
        download = self._under_way.pop(key, None)
        if download is not None:
            download.end()
        self._unlink(key.hex())
        self._forget(key)

    def drop_earlier(self, key: bytes) -> None:
        """Remove what an earlier answer left, now that another one shows that it is of no use."""
        if key not in self._under_way and self._row(key) is not None:
            self.drop(key)

    def _forget(self, key: bytes) -> None:
        if key in self._noted:
            self._database.write("DELETE FROM downloads WHERE key = ?", (key,))
            self._noted.discard(key)

    def _unlink(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)


def _refused(error: OSError) -> MirrorStorageError:
    return MirrorStorageError(f"a download cannot be written: {error.strerror or error}")


def may_go_to_disk(head: bytes, url: str, content_type: str | None) -> bool:
    """Return whether nothing is read of a body but its first bytes: it is no page, no document."""
    is_page = why_not_html(content_type, head) is None
    return not is_page and not may_be_document(head, url, content_type)
