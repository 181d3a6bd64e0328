"""Read the pages of an archive in the order of their capture, each with its payload."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.warc.record_reading import read_records
from crawler.warc.record_writing import DEPTH_FIELD, KIND_FIELD, PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.warc.record_reading import WholeRecord
    from crawler.warc.sources import WarcFile

logger = logging.getLogger(__name__)

REFUSED = "refused"
"""Field of a metadata record with the reason why the crawl refused a page."""

_STEP = 100
_NOTE_BYTES = 65_536
_HTML = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")

_TABLES = """
CREATE TABLE payloads (url TEXT, date TEXT, digest TEXT, source INTEGER, offset INTEGER);
CREATE INDEX payloads_url ON payloads (url, date);
CREATE INDEX payloads_digest ON payloads (digest);
CREATE TABLE last (url TEXT PRIMARY KEY, source INTEGER, offset INTEGER) WITHOUT ROWID;
CREATE TABLE refused (id TEXT PRIMARY KEY) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Capture:
    """A recorded answer; the body as it was transferred, without chunks."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    depth: int
    is_cut: bool
    source: WarcFile
    end: int
    """Offset of the next record in the file, at which an interrupted replay resumes."""


class Captures:
    """Reads the files of an archive twice: for the offsets of records, then for the pages.

    The result of the first pass is in a temporary database on disk, so memory does not grow with
    the archive.

    Args:
        sources: The files, in the order in which they were written.
        max_bytes: Maximum size of a payload; a larger one is skipped with a warning.
    """

    def __init__(self, sources: Sequence[WarcFile], max_bytes: int) -> None:
        self._sources = sources
        self._max_bytes = max_bytes
        self.skipped = 0
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TABLES)

    def close(self) -> None:
        self._database.close()

    def look_through(self) -> Iterator[None]:
        """Make the first pass, and yield now and then so that other tasks can run."""
        write = self._database.execute
        write("BEGIN")
        for number, source in enumerate(self._sources):
            with source.open() as file:
                records = read_records(file, source.complain, max_bytes=_NOTE_BYTES)
                for count, found in enumerate(records):
                    self._note(found, number)
                    if count % _STEP == 0:
                        yield
        write("COMMIT")

    def _note(self, found: WholeRecord, source: int) -> None:
        write = self._database.execute
        if found.kind == "response":
            digest, date = found.field("WARC-Payload-Digest"), found.field("WARC-Date")
            row = (found.url, date, digest, source, found.offset)
            write("INSERT INTO payloads VALUES (?, ?, ?, ?, ?)", row)
        if _is_page(found):
            write("INSERT OR REPLACE INTO last VALUES (?, ?, ?)", (found.url, source, found.offset))
        told = (found.payload or b"") if found.kind == "metadata" else b""
        if told.startswith(f"{REFUSED}: ".encode()):
            write("INSERT OR IGNORE INTO refused VALUES (?)", (found.field("WARC-Concurrent-To"),))

    def pages(self, start_of: Callable[[WarcFile], int]) -> Iterator[Capture]:
        """Make the second pass, and yield the pages.

        An error or a part counts only if it is the last answer of its URL: the crawl retried the
        others.

        Args:
            start_of: Function that returns the offset to begin at in a file; an earlier process has
                taken the records before it.
        """
        for number, source in enumerate(self._sources):
            # The damage was named in the first pass.
            with source.open() as file:
                records = read_records(
                    file, _silence, max_bytes=self._max_bytes, start=start_of(source)
                )
                for found in records:
                    capture = self._capture(found, number) if _is_page(found) else None
                    if capture is not None:
                        yield capture

    def _capture(self, found: WholeRecord, number: int) -> Capture | None:
        if self._is_refused(found) or not self._counts(found, number):
            return None
        # A revisit of an error or of a page: its payload is in another record.
        held = found if found.kind == "response" else self._original(found)
        if held is None:
            self._skip(found, number, "what it repeats is not in the archive")
            return None
        if held.payload is None:
            self._skip(found, number, f"larger than {self._max_bytes // 2**20} MB")
            return None
        told = held if found.status in {0, HTTPStatus.NOT_MODIFIED} else found
        depth = found.field(DEPTH_FIELD) or ""
        return Capture(
            url=found.url,
            status=told.status,
            headers=tuple(told.http.headers) if told.http is not None else (),
            body=held.payload,
            depth=int(depth) if depth.isdecimal() and len(depth) < 9 else 0,
            is_cut=held.field("WARC-Truncated") is not None,
            source=self._sources[number],
            end=found.offset + found.length,
        )

    def _is_refused(self, found: WholeRecord) -> bool:
        sql = "SELECT 1 FROM refused WHERE id = ?"
        return self._one(sql, found.field("WARC-Record-ID")) is not None

    def _counts(self, found: WholeRecord, number: int) -> bool:
        is_whole = found.field("WARC-Truncated") is None
        if found.status < HTTPStatus.BAD_REQUEST and is_whole:
            return True
        row = self._one("SELECT source, offset FROM last WHERE url = ?", found.url)
        return row == (number, found.offset)

    def _original(self, found: WholeRecord) -> WholeRecord | None:
        by_name = "SELECT source, offset FROM payloads WHERE url = ? AND date = ?"
        by_digest = "SELECT source, offset FROM payloads WHERE digest = ?"
        place = self._one(
            by_name,
            found.field("WARC-Refers-To-Target-URI"),
            found.field("WARC-Refers-To-Date"),
        ) or self._one(by_digest, found.field("WARC-Payload-Digest"))
        if place is None:
            return None
        with self._sources[place[0]].open() as file:
            return next(
                read_records(file, _silence, max_bytes=self._max_bytes, start=place[1]), None
            )

    def _one(self, sql: str, *values: str | None) -> tuple[int, ...] | None:
        row: tuple[int, ...] | None = self._database.execute(sql, values).fetchone()
        return row

    def _skip(self, found: WholeRecord, number: int, why: str) -> None:
        self.skipped += 1
        name = self._sources[number].name
        logger.warning("%s, byte %s: %s: %s", name, f"{found.offset:,}", found.url, why)


def _is_page(found: WholeRecord) -> bool:
    """Return whether a record is an answer that a crawl judges.

    Our own records say so. In foreign archives it is every HTML page.
    """
    if found.kind not in {"response", "revisit"} or not found.url.startswith(("http:", "https:")):
        return False
    if 300 <= found.status < 400 and found.status != HTTPStatus.NOT_MODIFIED:
        return False
    kind = found.field(KIND_FIELD)
    if kind is not None:
        return kind == PAGE
    declared = (found.header("Content-Type") or "").partition(";")[0].strip().lower()
    is_robots = urlsplit(found.url).path == "/robots.txt"
    # A revisit may lack a Content-Type.
    return not is_robots and (declared in _HTML or (not declared and found.kind == "revisit"))


def _silence(_: str) -> None:
    """Ignore damage in the second pass: the first one has reported it."""
