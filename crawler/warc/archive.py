"""A folder of WARC files that one process writes to."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crawler.warc import record_writing as records
from crawler.warc.errors import ArchiveError, ArchiveInUseError
from crawler.warc.exchange import Exchange, Original, Recorded
from crawler.warc.payloads import Payloads
from crawler.warc.warc_files import WarcFiles, mend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

MAX_FILE_BYTES = 1_000_000_000


class Archive:
    """Records exchanges; a payload that it holds already is named and not written again.

    Args:
        folder: Made where it is missing.
        name: How the names of its files begin.
        max_file_bytes: When a file is so large, the next one begins.
        about: What ``warcinfo`` says: software, operator, robots and so on.

    Files:
        *.warc.gz: see ``WarcFiles``.
        payloads.db: see ``Payloads``.
        lock: Held while a process writes.

    A write that fails ends everything: what follows half a record could not be read.

    Raises:
        ArchiveInUseError: Another process writes to the folder.
        ArchiveError: It cannot be written to.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        max_file_bytes: int = MAX_FILE_BYTES,
        about: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._failure: str | None = None
        self._is_closed = False
        self._lock = lock(folder)
        try:
            with self._noting_failure():
                mend(folder)
            self._payloads = Payloads(folder)
        except BaseException:
            self._lock.release()
            raise
        self._files = WarcFiles(folder, name, max_file_bytes, about or {})

    def record(self, exchange: Exchange) -> Recorded:
        """Write the answer, or that it is one that is held, and the request."""
        with self._noting_failure():
            answer = self._answer(exchange)
            self._files.write([answer, records.request(exchange, answer)])
        return records.recorded(answer)

    def _answer(self, exchange: Exchange) -> ArcWarcRecord:
        if exchange.status == HTTPStatus.NOT_MODIFIED:
            original = self._payloads.last_of(exchange.url)
            return records.revisit(exchange, original and original.digest, original)
        digest = records.payload_digest(exchange.body)
        if exchange.status == HTTPStatus.OK:
            self._payloads.note_answer(exchange.url, digest)
        is_whole = bool(exchange.body) and exchange.truncated is None
        original = self._payloads.find(digest) if is_whole else None
        if original is not None:
            return records.revisit(exchange, digest, original)
        answer = records.response(exchange, digest)
        if is_whole:
            self._payloads.add(Original(exchange.url, records.warc_date(exchange.at), digest))
        return answer

    def note(self, about: Recorded, fields: Iterable[tuple[str, str]]) -> None:
        """Say something of an answer that was recorded."""
        with self._noting_failure():
            self._files.write([records.metadata(about, fields)])

    def flush(self) -> None:
        """Let nothing that was recorded be lost with the process.

        A failure of the machine may take the last seconds.
        """
        if self._is_closed:
            return
        with self._noting_failure():
            self._files.flush()
            self._payloads.commit()

    def close(self) -> None:
        """End the file; after a failure it stays as it is, to be mended when it is opened next.

        Closing twice is allowed.
        """
        if self._is_closed:
            return
        try:
            if self._failure is None:
                self.flush()
                self._end()
        finally:
            self._is_closed = True
            self._payloads.close()
            self._lock.release()

    def _end(self) -> None:
        with self._noting_failure():
            self._files.close()

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        if self._failure is not None:
            raise ArchiveError(self._failure)
        try:
            yield
        except (OSError, ArchiveError, sqlite3.Error) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            self._failure = f"{self.folder}: cannot be written: {reason}"
            raise ArchiveError(self._failure) from error


def lock(folder: Path) -> FileLock:
    """Take a folder for this process, and make it where it is missing.

    Raises:
        ArchiveInUseError: Another process has it.
        ArchiveError: It cannot be made.
    """
    taken = FileLock(folder / "lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken.acquire()
    except Timeout:
        raise ArchiveInUseError(f"{folder}: another process writes to this archive") from None
    except OSError as error:
        raise ArchiveError(f"{folder}: cannot be written: {error.strerror}") from error
    return taken
