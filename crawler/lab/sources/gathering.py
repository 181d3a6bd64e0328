"""Sources that are files: their pages are read, measured, and their texts held."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.lab.sources.source import LabPage, PageSource, SourceError
from crawler.pages.stored_texts import unpack_judged
from crawler.reading.content.content_xml import PackedContent
from crawler.reading.pool import Html, HtmlReader
from crawler.reading.worker_pool import ReadingError
from crawler.warc.sources import ArchiveError
from neardup import analyse
from neardup.errors import InputError
from neardup.fingerprints.digest import payload_digest
from neardup.names import name_of, unpacked
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawler.reading.reading import Reading

_TOGETHER = 32
_TOGETHER_BYTES = 1 << 26
_MAX_CAUSES = 20
NOT_TO_KEEP = frozenset({"noindex", "none"})
"""Words of a page about robots that ask not to keep it."""

_NOWHERE = "http://nowhere.invalid/"
"""The URL of a page without one, since its links must be resolved against some URL."""


class LeftOut(Counter[str]):
    """Counts what was left out, by cause; rare causes that come late are counted as one."""

    def add(self, why: str) -> None:
        known = why in self or len(self) < _MAX_CAUSES
        self[why if known else "other causes"] += 1

    def notes(self, what: str) -> list[str]:
        return [f"{what} left out: {count:,}: {why}" for why, count in self.most_common()]


class _TemporaryTexts:
    """Each text and content once, by its digest, on disk: memory does not grow with them.

    Files:
        One without a name in SQLite's folder for temporary files (``SQLITE_TMPDIR``, ``TMPDIR``),
        which is gone when it is closed.
    """

    def __init__(self) -> None:
        # Its owner sees to it that one thread at a time uses it.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("CREATE TABLE texts (digest BLOB PRIMARY KEY, text BLOB NOT NULL)")
        self._compress = zstandard.ZstdCompressor().compress
        self._database.execute(
            "CREATE TABLE contents (payload BLOB PRIMARY KEY, xml BLOB NOT NULL, kind, source)"
        )
        # Never committed: no other connection can see it.
        self._database.execute("BEGIN")

    def add(self, digest: bytes, text: str) -> None:
        self.add_packed(digest, self._compress(text.encode("utf-8", "replace")))

    def add_packed(self, digest: bytes, text: bytes) -> None:
        """Hold a text that is UTF-8, compressed by zstd.

        Raises:
            SourceError: The disk is full.
        """
        self._insert("texts", digest, text)

    def add_content(self, payload: bytes, content: PackedContent) -> None:
        """Hold what is shown of the page with a payload digest.

        Raises:
            SourceError: The disk is full.
        """
        self._insert("contents", payload, *content)

    def _insert(self, table: str, *row: object) -> None:
        marks = ", ".join("?" * len(row))
        try:
            self._database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608  # a table of ours
        except sqlite3.OperationalError as error:
            raise SourceError(f"temporary files: {error}; TMPDIR may name a larger disk") from None

    def contents(self, payloads: Sequence[bytes | None]) -> Iterator[PackedContent | None]:
        for payload in payloads:
            sql = "SELECT xml, kind, source FROM contents WHERE payload = ?"
            row = self._database.execute(sql, (payload,)).fetchone()
            yield None if row is None else PackedContent(*row)

    def texts(self, digests: Sequence[bytes]) -> Iterator[str | None]:
        for digest in digests:
            sql = "SELECT text FROM texts WHERE digest = ?"
            row = self._database.execute(sql, (digest,)).fetchone()
            yield None if row is None else unpack_judged(row[0])

    def close(self) -> None:
        self._database.close()


class Told(NamedTuple):
    """A page as a file describes it.

    Attributes:
        url: The URL; empty where the file names none.
        title: The title; where it is empty, that of the HTML counts.
        text: The text to judge; None: it is read from ``body``.
        body: The HTML to read the text from.
        content_type: The content type of the body.
    """

    url: str
    title: str
    text: str | None
    body: bytes = b""
    content_type: str | None = None


class Gathering:
    """Makes a ``LabPage`` of each page in files, numbered from 1, and stores the texts on disk."""

    def __init__(self) -> None:
        self._texts = _TemporaryTexts()
        self._reader = HtmlReader()
        self._digests: list[bytes] = []
        self._payloads: list[bytes | None] = []
        # Of pages with the same bytes all but id, URL and a title that the file names.
        self._by_payload: dict[bytes, LabPage] = {}
        self._unread = LeftOut()

    @property
    def notes(self) -> list[str]:
        """The number of pages that could not be read, a line for each cause."""
        return self._unread.notes("pages")

    def take(self, told: Iterable[Told]) -> list[LabPage]:
        """Read pages and hold what they say.

        Returns:
            Those that are pages, in order.

        Raises:
            SourceError: No worker could be started, or the disk is full.
        """
        return [page for batch in _batches(told) for page in self._take(batch)]

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        return self._texts.texts([self._digests[number - 1] for number in ids])

    def contents(self, ids: Sequence[int]) -> Iterator[PackedContent | None]:
        return self._texts.contents([self._payloads[number - 1] for number in ids])

    def close(self) -> None:
        self._reader.close()
        self._texts.close()

    def _take(self, batch: Sequence[Told]) -> Iterator[LabPage]:
        payloads = [payload_digest(one.body) if one.text is None else None for one in batch]
        self._read(batch, payloads)
        for one, payload in zip(batch, payloads, strict=True):
            page = self._of_text(one) if payload is None else self._by_payload.get(payload)
            if page is not None:
                self._digests.append(page.text_digest)
                self._payloads.append(page.payload_digest)
                number, title = len(self._digests), one.title or page.title
                name = _renamed(page.name, one.title) if one.title else page.name
                yield replace(page, id=number, url=one.url, title=title, name=name)

    def _of_text(self, told: Told) -> LabPage:
        text = told.text or ""
        document = analyse(text, DEFAULTS)
        self._texts.add(document.digest, text)
        return LabPage(
            id=0,
            url="",
            title="",
            words=document.words,
            text_digest=document.digest,
            visible_digest=None,
            payload_digest=None,
            fingerprint=document.fingerprint,
            is_main=True,
            body_bytes=len(text.encode("utf-8", "replace")),
            name=document.name,
        )

    def _read(self, batch: Sequence[Told], payloads: Sequence[bytes | None]) -> None:
        wanted: dict[bytes, Html] = {}
        for one, payload in zip(batch, payloads, strict=True):
            if payload is not None and payload not in self._by_payload:
                url = one.url or _NOWHERE
                wanted.setdefault(payload, Html(url, one.body, one.content_type))
        if wanted:
            try:
                readings = self._reader.read(list(wanted.values()))
            except ReadingError as error:
                raise SourceError(str(error)) from None
            for (payload, html), reading in zip(wanted.items(), readings, strict=True):
                self._note(payload, reading, len(html.body))

    def _note(self, payload: bytes, reading: Reading, body_bytes: int) -> None:
        found = reading.extract
        asks = not NOT_TO_KEEP.isdisjoint(reading.metadata.robots)
        if found is None or asks:
            why = reading.not_html or reading.failure or "it asks not to be kept (noindex)"
            self._unread.add(why)
            return
        document = found.document(DEFAULTS.min_words)
        self._texts.add_packed(document.digest, found.text_zstd)
        self._texts.add_content(payload, found.shown)
        self._by_payload[payload] = LabPage(
            id=0,
            url="",
            title=reading.metadata.title or "",
            words=document.words,
            text_digest=document.digest,
            visible_digest=found.visible_digest,
            payload_digest=payload,
            fingerprint=document.fingerprint,
            is_main=found.is_main,
            body_bytes=body_bytes,
            name=reading.metadata.name(found.text).packed(),
        )


def _renamed(packed: str, title: str) -> str:
    """Return a name with the title that a file gives it."""
    name = unpacked(packed)
    return name_of("", title, name.heading, name.identifiers, name.subheading).packed()


def _batches(told: Iterable[Told]) -> Iterator[list[Told]]:
    """Yield batches bounded in number and in bytes, since one is in memory at once."""
    batch: list[Told] = []
    size = 0
    for one in told:
        batch.append(one)
        size += len(one.body)
        if len(batch) == _TOGETHER or size >= _TOGETHER_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class FileSource(PageSource):
    """Pages that a file describes, slice by slice; they have no verdicts and do not change."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._gathering = Gathering()
        self._left_out = LeftOut()
        self._progress = 0.0

    @abstractmethod
    def _next(self) -> Iterable[Told] | None:
        """Describe the next pages, perhaps without some of them; None at the end."""

    @property
    def progress(self) -> float:
        return self._progress

    def read_new(self) -> list[LabPage]:
        try:
            while (told := self._next()) is not None:
                pages = self._gathering.take(told)
                if pages:
                    return pages
        except (ArchiveError, InputError, OSError) as error:
            raise complaint(self.path, error) from None
        self._progress = 1.0
        return []

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        return self._gathering.texts(ids)

    def contents(self, ids: Sequence[int]) -> Iterator[PackedContent | None]:
        return self._gathering.contents(ids)

    def close(self) -> None:
        self._gathering.close()


def complaint(path: Path, error: ArchiveError | InputError | OSError) -> SourceError:
    """Return what is wrong with a file, in one line."""
    if isinstance(error, OSError):
        return SourceError(f"{path}: {error.strerror or error}")
    return SourceError(str(error))
