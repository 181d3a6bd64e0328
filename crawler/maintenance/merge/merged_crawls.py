"""Open the crawl directories that are merged, and make the new one."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.storage import meta_names
from crawler.storage.errors import CrawlStorageError, JobError, JobInUseError, JobVersionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class MergedCrawl:
    """A crawl directory that no other process has open.

    Attributes:
        number: Position among all directories.
        shift: Number that is added to its visits, so that all crawls have the same last visit.
    """

    number: int
    folder: Path
    connection: sqlite3.Connection
    meta: dict[str, str]
    shift: int

    def one(self, sql: str, *parameters: Any) -> Any:
        return self.connection.execute(sql, parameters).fetchone()

    def count(self, table: str) -> int:
        return int(self.one(f"SELECT count(*) FROM {table}")[0])


@contextmanager
def opened(folders: Sequence[Path]) -> Iterator[list[MergedCrawl]]:
    """Open directories until the block ends.

    Raises:
        JobInUseError: A crawl has one of them open.
        JobVersionError: Keys or fingerprints of one differ in meaning from those of another.
        JobError: One is no crawl directory, is named twice, or is a mirror's.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise JobError("a crawl directory is named twice")
    with ExitStack() as stack:
        directories = []
        for folder in folders:
            directory = CrawlDirectory(folder, only_reads=True)
            stack.callback(directory.close)
            directories.append(directory)
        last = max(_visit(directory.meta) for directory in directories)
        yield [
            _checked(directories[0], directory, number, last)
            for number, directory in enumerate(directories)
        ]


def blamed(sources: Sequence[MergedCrawl], error: sqlite3.Error | CrawlStorageError) -> JobError:
    """Return an error that names the directories it may come from.

    SQLite distinguishes an unreadable source from an unwritable result only by the code of the
    error, and text that is no UTF-8 has none.
    """
    cause = error.__cause__ if isinstance(error, CrawlStorageError) else error
    code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if isinstance(cause, sqlite3.Error) and code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        names = " or ".join(str(source.folder) for source in sources)
        return JobError(f"{names}: damaged ({cause}); crawl-once verify DIR says more")
    return (
        error
        if isinstance(error, CrawlStorageError)
        else CrawlStorageError(f"cannot be merged: {error}")
    )


def _visit(meta: dict[str, str]) -> int:
    return int(meta.get(meta_names.VISIT, 0))


def _checked(
    first: CrawlDirectory, directory: CrawlDirectory, number: int, last: int
) -> MergedCrawl:
    for name in meta_names.IDENTITY:
        wanted, found = first.meta.get(name), directory.meta.get(name)
        if wanted != found:
            raise JobVersionError(
                f"{directory.folder}: made with {name} '{found}', {first.folder} with '{wanted}'; "
                "only what was made with the same can become one"
            )
    if directory.count("SELECT count(*) FROM files"):
        raise JobError(f"{directory.folder}: belongs to a mirror, whose files cannot be merged")
    shift = last - _visit(directory.meta)
    return MergedCrawl(number, directory.folder, directory.connection, directory.meta, shift)


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside a new one, and rename it when the block ends.

    After an exception nothing is left. The remains of a killed process are deleted by the next one.

    Files:
        .NAME.part: The unfinished folder; .NAME.part.lock: held meanwhile.

    Raises:
        JobError: The folder is not empty, or cannot be made.
        JobInUseError: Another process is making it.
    """
    folder = folder.resolve()  # "." has no name, and a link cannot be replaced by a folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise JobError(f"{folder}: there is something in it already; name a new directory")
    part = folder.with_name(f".{folder.name}.part")
    lock = FileLock(f"{part}.lock", timeout=0)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise JobInUseError(f"{folder}: another process is making it") from None
    except OSError as error:
        raise JobError(f"{folder}: cannot be made: {error.strerror}") from error
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        lock.release()
        lock_file = part.with_name(f"{part.name}.lock")
        lock_file.unlink(missing_ok=True)
