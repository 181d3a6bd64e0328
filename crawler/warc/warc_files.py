"""Name and roll the WARC files of a folder, and mend those of killed processes."""

from __future__ import annotations

import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from shutil import copyfileobj
from typing import TYPE_CHECKING, BinaryIO

from warcio.warcwriter import WARCWriter

from crawler.warc import record_writing as records
from crawler.warc.record_writing import RecordPlace
from crawler.warc.sources import OPEN_SUFFIX
from neardup.files.durable import open_itself

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

_GZIP = zlib.MAX_WBITS + 16
_LEVEL = 6  # 9, warcio's own, takes half as long again for a hundredth of the bytes
_PIECE_BYTES = 1 << 20


class WarcFiles:
    """Writes records, each a gzip member of its own, into files of a bounded size.

    Args:
        folder: Folder of the files, which exists.
        name: Prefix of their names.
        max_bytes: Size in bytes at which the next file begins.
        about: Fields of the first record of each file.

    Attributes:
        written: Bytes of each file by its name; the owner takes out what it has noted.

    Files:
        NAME-YYYYMMDDHHMMSS-NNNNN.warc.gz: with a further ``.open`` while it is written to.
    """

    def __init__(self, folder: Path, name: str, max_bytes: int, about: Mapping[str, str]) -> None:
        self._folder = folder
        self._prefix = f"{name}-{datetime.now(UTC):%Y%m%d%H%M%S}"
        self._serial = 0
        self._max_bytes = max_bytes
        self._about = about
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self.written: dict[str, int] = {}
        self._syncs = Syncs()

    def write(self, group: Iterable[ArcWarcRecord], packed: BinaryIO | None = None) -> RecordPlace:
        """Write records, after one that ``pack`` has written to a file.

        Returns:
            The place of the first one.
        """
        if self._file is not None and self._file.tell() >= self._max_bytes:
            self.close()
        if self._file is None:
            self._begin()
        assert self._file is not None
        assert self._path is not None
        ends = [self._file.tell()]
        if packed is not None:
            packed.seek(0)
            copyfileobj(packed, self._file, _PIECE_BYTES)
            ends.append(self._file.tell())
        for record in group:
            pack(self._file, record)
            ends.append(self._file.tell())
        self.written[self._path.stem] = ends[-1]
        return RecordPlace(self._path.stem, ends[0], ends[1] - ends[0])

    def opened(self, name: str) -> BinaryIO | None:
        """Open a file of the folder, with all that was written to it, or return None."""
        path = self._folder / name
        if self._file is not None and self._path is not None and self._path.stem == name:
            self._file.flush()
            path = self._path
        if path.parent != self._folder or not path.is_file():  # a pipe would be waited for
            return None
        with suppress(OSError):
            return path.open("rb")
        return None

    def flush(self) -> None:
        """Hand all records to the operating system, and have it write them to the disk.

        Raises:
            OSError: It cannot, or could not write the records of an earlier call.
        """
        if self._file is not None:
            self._file.flush()
            self._syncs.sync(self._file)

    def close(self) -> None:
        """End the open file; the next record begins another one."""
        self._syncs.close()
        if self._file is None or self._path is None:
            return
        with self._file as file:
            file.flush()
            os.fsync(file.fileno())
        self._file = None
        self._path.rename(self._path.with_suffix(""))

    def abandon(self) -> None:
        """Close the open file as it is after a failure; ``mend`` takes it from there."""
        with suppress(OSError):
            self._syncs.close()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _begin(self) -> None:
        path = self._free_path()
        self._file = open_itself(path, "xb")
        self._path = path
        pack(self._file, records.warcinfo(path.stem, self._about))

    def _free_path(self) -> Path:
        """Return a name that no earlier process of the same second took."""
        while True:
            path = self._folder / f"{self._prefix}-{self._serial:05}.warc.gz{OPEN_SUFFIX}"
            self._serial += 1
            if not path.exists() and not path.with_suffix("").exists():
                return path


class Syncs:
    """Syncs a file to the disk in a thread: a sync takes as long as hundreds of pages.

    What is asked for while one runs is done when it ends.
    """

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._syncs: list[Future[None]] = []
        self._synced_bytes = -1

    def sync(self, file: BinaryIO) -> None:
        """Begin to sync what was written to a file, if there is anything new.

        Raises:
            OSError: An earlier sync failed.
        """
        size = file.tell()
        if size == self._synced_bytes:
            return
        self._synced_bytes = size
        while self._syncs and self._syncs[0].done():
            self._syncs.pop(0).result()
        if self._syncs and not (self._syncs[-1].running() or self._syncs[-1].done()):
            return  # it has not begun, and syncs this too
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "warc-sync")
        self._syncs.append(self._thread.submit(_sync, os.dup(file.fileno())))

    def close(self) -> None:
        """Wait for the running sync; the next one may be of another file.

        Raises:
            OSError: It failed.
        """
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        syncs, self._syncs, self._synced_bytes = self._syncs, [], -1
        for sync in syncs:
            sync.result()


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Member:
    """One gzip member, as the stream that warcio writes to."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)

    def write(self, data: bytes) -> None:
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        self._file.write(self._compressor.flush())


def pack(file: BinaryIO, record: ArcWarcRecord) -> None:
    """Write a record as a gzip member."""
    WARCWriter(_Member(file), gzip=False, warc_version=records.VERSION).write_record(record)


def mend(folder: Path) -> list[Path]:
    """Cut the files of killed processes to their last whole record, and rename them.

    No process may be writing to them. A file without a whole record is deleted.

    Returns:
        The files that were mended.
    """
    mended = []
    for path in sorted(folder.glob(f"*.warc.gz{OPEN_SUFFIX}")):
        is_ours = path.is_file() and not path.is_symlink()
        whole = whole_bytes(path) if is_ours else 0
        if whole:
            with open_itself(path, "r+b") as file:
                file.truncate(whole)
                os.fsync(file.fileno())
            mended.append(path.rename(path.with_suffix("")))
        else:
            path.unlink()
    return mended


def whole_bytes(path: Path) -> int:
    """Return the offset where the last whole gzip member of a file ends.

    Complexity: O(length); memory does not grow with it.
    """
    end = at = 0
    with path.open("rb") as file, suppress(zlib.error):
        stream = zlib.decompressobj(_GZIP)
        while piece := file.read(_PIECE_BYTES):
            at += len(piece)
            while piece:
                stream.decompress(piece, _PIECE_BYTES)
                if stream.eof:
                    piece = stream.unused_data
                    end = at - len(piece)
                    stream = zlib.decompressobj(_GZIP)
                else:
                    piece = stream.unconsumed_tail
    return end
