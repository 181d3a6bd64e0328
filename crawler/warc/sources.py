"""Find WARC files by name, in a folder or within a WACZ."""

from __future__ import annotations

import io
import logging
import os
import struct
import tempfile
import weakref
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from crawler.suggestions import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.warc.compression import Unpacked

logger = logging.getLogger(__name__)

OPEN_SUFFIX = ".open"
"""Ending of a file that a process writes to, or wrote to when it was killed."""

FOLDER = "warc"
"""Name of the folder of a crawl's archive, where no other one is chosen."""

_STATE_OF_MIRROR = ".mirror"
_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
ENDINGS = (*_ENDINGS, f".warc.gz{OPEN_SUFFIX}")
"""Endings of the WARC files in a folder."""
_LOCAL_MAGIC = b"PK\x03\x04"
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_NO_ARCHIVE = "is no archive: WARC, WARC in gzip or zstd, WACZ or a folder of those"


class ArchiveError(UserError):
    """An archive cannot be written or read; the message says why."""


@dataclass(frozen=True)
class WarcFile:
    """A file of an archive, or a member of a WACZ."""

    name: str
    path: Path
    start: int = 0
    length: int | None = None

    def complain(self, what: str) -> None:
        logger.warning("%s: %s", self.name, what)

    def open(self) -> BinaryIO:
        """Open the records for reading; the result is seekable.

        A file that is compressed as a whole, and not record by record, is unpacked once, into a
        nameless file among the temporary ones of the system.

        Raises:
            OSError: It cannot be read, or there is no room to unpack it.
        """
        if self.unpacked is None:
            return self._as_it_is()
        from crawler.warc.compression import part_of  # noqa: PLC0415  # warcio can wait

        shared = io.FileIO(os.dup(self.unpacked.file.fileno()))
        return part_of(shared, 0, os.fstat(shared.fileno()).st_size)

    @cached_property
    def unpacked(self) -> Unpacked | None:
        """The records of a file that is compressed as a whole; None of any other."""
        from crawler.warc.compression import unpacked  # noqa: PLC0415  # warcio can wait

        with self._as_it_is() as file:
            try:
                whole = unpacked(file)
            except OSError as error:
                place = f"{self.name}, unpacked into {tempfile.gettempdir()}"
                raise OSError(error.errno, error.strerror, place) from error
        if whole is not None:
            weakref.finalize(self, whole.file.close)
        return whole

    def _as_it_is(self) -> BinaryIO:
        from crawler.warc.compression import part_of  # noqa: PLC0415  # warcio can wait

        file = self.path.open("rb")
        return file if self.length is None else part_of(file, self.start, self.length)


def archive_of(crawl: Path) -> Path:
    """Return the usual folder of a crawl's archive, which a mirror has beside its state."""
    crawl = crawl.resolve()
    return (crawl.parent if crawl.name == _STATE_OF_MIRROR else crawl) / FOLDER


def find_sources(word: str) -> list[WarcFile]:
    """Return the WARC files that a word names: files and folders, separated by commas.

    Raises:
        ArchiveError: A named file does not exist or is no archive, or a folder has none.
    """
    names = [word] if Path(word).exists() else [name.strip() for name in word.split(",")]
    return [source for name in names if name for source in _of_path(Path(name))]


def _of_path(path: Path) -> Iterator[WarcFile]:
    from crawler.warc.record_reading import is_archive  # noqa: PLC0415  # warcio can wait

    try:
        if path.is_dir():
            yield from _of_folder(path)
            return
        with path.open("rb") as file:
            is_zip = path.suffix.lower() == ".wacz" or file.read(4) == _LOCAL_MAGIC
            file.seek(0)
            if not is_zip and not is_archive(file, is_named=path.name.lower().endswith(ENDINGS)):
                raise ArchiveError(f"{path} {_NO_ARCHIVE}")
        yield from _of_wacz(path) if is_zip else (WarcFile(str(path), path),)
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror or error}") from None


def _of_folder(path: Path) -> Iterator[WarcFile]:
    files = sorted(
        file for file in path.iterdir() if file.name.lower().endswith(ENDINGS) and file.is_file()
    )  # no pipe
    if not files:
        raise ArchiveError(f"{path}: no WARC files in it")
    for file in files:
        yield WarcFile(str(file), file)


def _of_wacz(path: Path) -> Iterator[WarcFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                member
                for member in archive.infolist()
                if member.filename.startswith("archive/")
                and member.filename.lower().endswith(_ENDINGS)
            ]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
        raise ArchiveError(f"{path}: no WACZ: {error}") from None
    if not members:
        raise ArchiveError(f"{path} {_NO_ARCHIVE}")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise ArchiveError(f"{path}: {member.filename} is compressed within it; unpack it")
        start = _start_of(path, member)
        if start is None:
            raise ArchiveError(f"{path}: its directory is damaged: {member.filename} is not there")
        yield WarcFile(f"{path}!{member.filename}", path, start, member.file_size)


def _start_of(path: Path, member: zipfile.ZipInfo) -> int | None:
    """Return where the content of a member begins; None where it is not as the directory says."""
    if member.header_offset < 0:
        return None
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER.size).ljust(_LOCAL_HEADER.size)
        magic, name, extra = _LOCAL_HEADER.unpack(header)
        start = member.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)
        is_there = magic == _LOCAL_MAGIC and start + member.file_size <= file.seek(0, os.SEEK_END)
    return start if is_there else None
