"""Read the pages of an archive in the order of their capture, each with its payload."""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.downloading.message_head import range_in
from crawler.reading.content_types import is_told_by_type, why_not_html
from crawler.warc.record_reading import read_records
from crawler.warc.record_writing import DEPTH_FIELD, KIND_FIELD, PAGE, is_as_long_as_declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.warc.record_reading import WholeRecord
    from crawler.warc.sources import WarcFile

logger = logging.getLogger(__name__)

REFUSED = "refused"
"""Field of a metadata record with the reason why the crawl refused a page."""

_REFUSED = f"{REFUSED}: ".encode()

_UNCHANGED = HTTPStatus.NOT_MODIFIED
_STEP = 100
_NOTE_BYTES = 65_536

_TABLES = """
CREATE TABLE answers (
    url TEXT, date TEXT, digest TEXT, id TEXT,
    status INTEGER,  -- of what has a body; NULL: it stands for another record
    is_page INTEGER, -- whether it may be a page by its head
    source INTEGER, offset INTEGER
);
CREATE INDEX answers_url ON answers (url, date);
CREATE INDEX answers_digest ON answers (digest);
CREATE INDEX answers_id ON answers (id);
CREATE TABLE none ( -- records whose answers of these URLs are no pages
    id TEXT, url TEXT, why TEXT, PRIMARY KEY (id, url)
) WITHOUT ROWID;
"""

OTHER_METHOD = "answers to HEAD, POST or another method than GET"
_PART = "parts of an answer (206)"
_WITHOUT_BODY = "answers without their body"
_NOT_MODIFIED = 'answers "not modified" whose page is not in the archive'


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

    Attributes:
        skipped: Number of damaged places, bad records, and pages that cannot be had; each was
            named.
        left_out: Number of answers that are no pages, though their type may be, by what they are.
    """

    def __init__(self, sources: Sequence[WarcFile], max_bytes: int) -> None:
        self._sources = sources
        self._max_bytes = max_bytes
        self.skipped = 0
        self.left_out: Counter[str] = Counter()
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TABLES)

    def close(self) -> None:
        self._database.close()

    def look_through(self) -> Iterator[None]:
        """Make the first pass, and yield now and then so that other tasks can run.

        Raises:
            OSError: A file cannot be read, or there is no room to unpack it.
        """
        write = self._database.execute
        write("BEGIN")
        for number, source in enumerate(self._sources):
            with source.open() as file:
                complain = partial(self._complain, source)
                if source.unpacked is not None and source.unpacked.damage is not None:
                    complain(source.unpacked.damage)
                for count, found in enumerate(read_records(file, complain, max_bytes=_NOTE_BYTES)):
                    self._note(found, number)
                    if count % _STEP == 0:
                        yield
        write("COMMIT")

    def _complain(self, source: WarcFile, what: str) -> None:
        self.skipped += 1
        source.complain(what)

    def _note(self, found: WholeRecord, source: int) -> None:
        write = self._database.execute
        if found.is_answer:
            row = (
                found.url,
                found.field("WARC-Date"),
                found.field("WARC-Payload-Digest"),
                found.field("WARC-Record-ID"),
                (found.status or HTTPStatus.OK) if _has_payload(found) else None,
                _may_be_page(found) and why_no_page(found) is None and found.status != _UNCHANGED,
                source,
                found.offset,
            )
            write("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        elif found.kind == "request" and found.method not in {"GET", ""}:
            self._note_none(found, OTHER_METHOD)
        elif found.kind == "metadata" and (found.payload or b"").startswith(_REFUSED):
            self._note_none(found, "")

    def _note_none(self, found: WholeRecord, why: str) -> None:
        for record in found.joined:
            row = record, found.url, why
            self._database.execute("INSERT OR IGNORE INTO none VALUES (?, ?, ?)", row)

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
                    capture = self._capture(found, number) if _may_be_page(found) else None
                    if capture is not None:
                        yield capture

    def _capture(self, found: WholeRecord, number: int) -> Capture | None:
        why = self._why_left_out(found)
        if why is not None or not self._counts(found, number):
            self.left_out.update([why] if why else ())
            return None
        # A revisit of an error or of a page: its payload is in another record.
        held = found if _has_payload(found) else self._original(found)
        if not _is_page(found, held):
            return None
        if held is None and found.kind == "response":
            self.left_out[_NOT_MODIFIED] += 1
            return None
        if held is None:
            self._skip(found, number, "what it repeats is not in the archive")
            return None
        if held.payload is None:
            self._skip(found, number, f"larger than {self._max_bytes // 2**20} MB")
            return None
        told = held if found.status in {0, _UNCHANGED} else found
        depth = found.field(DEPTH_FIELD) or ""
        return Capture(
            url=found.url,
            status=told.status or HTTPStatus.OK,
            headers=_headers(told),
            body=held.payload,
            depth=int(depth) if depth.isdecimal() and len(depth) < 9 else 0,
            is_cut=not _is_whole(held),
            source=self._sources[number],
            end=found.offset + found.length,
        )

    def _why_left_out(self, found: WholeRecord) -> str | None:
        """Return what an answer is that is no page, empty of what the crawl refused, or None."""
        # Where several answers share an identity, a request does not tell which one is its own.
        none = (
            "SELECT why FROM none WHERE id = ?1 AND url = ?2 AND (why = '' OR "
            "(SELECT count(*) FROM answers WHERE id = ?1 AND url = ?2) < 2)"
        )
        for record in found.joined:
            row = self._one(none, record, found.url)
            if row is not None:
                return str(row[0])
        return why_no_page(found)

    def _counts(self, found: WholeRecord, number: int) -> bool:
        if found.status < HTTPStatus.BAD_REQUEST and _is_whole(found):
            return True
        last = (
            "SELECT source, offset FROM answers WHERE url = ? AND is_page AND NOT EXISTS "
            "(SELECT 1 FROM none WHERE none.id = answers.id AND none.url = answers.url) "
            "ORDER BY source DESC, offset DESC LIMIT 1"
        )
        return self._one(last, found.url) == (number, found.offset)

    def _original(self, found: WholeRecord) -> WholeRecord | None:
        """Return the record with the payload that another one stands for, or None."""
        find = "SELECT source, offset FROM answers WHERE status NOT NULL AND "
        place = self._one(
            f"{find} url = ? AND date = ?",
            found.field("WARC-Refers-To-Target-URI"),
            found.field("WARC-Refers-To-Date"),
        )
        place = place or self._one(f"{find} digest = ?", found.field("WARC-Payload-Digest"))
        # Some programs give all records the same identity, so that it is asked last.
        place = place or self._one(f"{find} id = ?", found.field("WARC-Refers-To"))
        if place is None and _is_unchanged(found):
            url = found.field("WARC-Refers-To-Target-URI") or found.url
            before = f"{find} status = 200 AND url = ? AND date <= ? ORDER BY date DESC LIMIT 1"
            place = self._one(before, url, found.field("WARC-Date"))
        if place is None:
            return None
        with self._sources[place[0]].open() as file:
            return next(
                read_records(file, _silence, max_bytes=self._max_bytes, start=place[1]), None
            )

    def _one(self, sql: str, *values: str | None) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(sql, values).fetchone()
        return row

    def _skip(self, found: WholeRecord, number: int, why: str) -> None:
        self.skipped += 1
        name = self._sources[number].name
        logger.warning("%s, byte %s: %s: %s", name, f"{found.offset:,}", found.url, why)


def _has_payload(found: WholeRecord) -> bool:
    """Return whether a record has a body, and does not stand for another one."""
    return found.kind == "resource" or (found.kind == "response" and found.status != _UNCHANGED)


def _is_unchanged(found: WholeRecord) -> bool:
    """Return whether a server said "not modified", so that its last answer is what was meant."""
    return found.status == _UNCHANGED or "not-modified" in (found.field("WARC-Profile") or "")


def _is_whole(found: WholeRecord) -> bool:
    """Return whether nothing of the body is missing, whatever else a program says of it."""
    if found.field("WARC-Truncated") is None:
        return True
    body = found.payload
    return body is not None and is_as_long_as_declared(_headers(found), len(body))


def _headers(found: WholeRecord) -> tuple[tuple[str, str], ...]:
    if found.http is not None:
        return tuple(found.http.headers)
    declared = found.content_type
    return () if declared is None else (("Content-Type", declared),)


def _may_be_page(found: WholeRecord) -> bool:
    """Return whether a record may be an answer that a crawl judges, by its head.

    Our own records say so. In foreign archives it is every HTML page.
    """
    if not found.is_answer or 100 <= found.status < 200:
        return False
    if 300 <= found.status < 400 and found.status != _UNCHANGED:
        return False
    kind = found.field(KIND_FIELD)
    if kind is not None:
        return kind == PAGE
    if urlsplit(found.url).path == "/robots.txt":
        return False
    declared = (found.content_type or "").lower()
    # What a vague type stands for is seen by the body.
    return not is_told_by_type(declared) or why_not_html(declared, b"") is None


def _is_page(found: WholeRecord, held: WholeRecord | None) -> bool:
    """Return whether a record that may be a page is one, by the record that has its body."""
    if found.field(KIND_FIELD) is not None:
        return True
    declared = (found.content_type or (held and held.content_type) or "").lower()
    if is_told_by_type(declared):
        return why_not_html(declared, b"") is None
    if held is None or held.payload is None:
        return not declared
    return bool(held.payload) and why_not_html(declared, held.payload) is None


def why_no_page(found: WholeRecord) -> str | None:
    """Return what an answer of another program's archive is, where it holds no page, else None."""
    if found.field(KIND_FIELD) is not None or found.kind != "response":
        return None
    if found.status == HTTPStatus.PARTIAL_CONTENT:
        part = range_in((found.header("Content-Range") or "").encode())
        return None if part is not None and not part.first and part.is_to_end else _PART
    declared = found.header("Content-Length") or ""
    is_promised = declared.strip("0 ").isdecimal() and found.status == HTTPStatus.OK
    return _WITHOUT_BODY if is_promised and found.payload == b"" else None


def _silence(_: str) -> None:
    """Ignore damage in the second pass: the first one has reported it."""
