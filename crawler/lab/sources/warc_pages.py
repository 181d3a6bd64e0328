"""Pages of WARC files, read as a crawl reads them."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from http import HTTPStatus
from itertools import accumulate
from typing import TYPE_CHECKING

import crawler.warc
from crawler.downloading.encodings import AnswerError, codings, open_body
from crawler.lab.sources.gathering import NOT_TO_KEEP, FileSource, Told, complaint
from crawler.reading.metadata.robots_directives import robots_words
from crawler.urls.canonical import TRIED, Canonicalizer
from crawler.urls.parts import MalformedUrl
from crawler.warc.captures import Captures
from crawler.warc.sources import ArchiveError, find_sources
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from crawler.warc.captures import Capture
    from crawler.warc.sources import WarcFile as File

_SLICE = 128
_SLICE_BYTES = 1 << 26
_MAX_COMPLAINTS = 20
# As of a replay: the answers of both URLs that a crawl would try are in the archive.
_CANONICALIZER = Canonicalizer([rule.name for rule in TRIED])

MAX_BYTES = 32 * 1024 * 1024
"""The largest size of a body in bytes, also after decompression: the profile's DOWNLOAD_MAXSIZE."""


class WarcSource(FileSource):
    """The pages of an archive in the order in which they were fetched, of each URL the first.

    What was fetched again is the same page and no duplicate, so it is left out.

    Args:
        path: A WARC file, a WACZ file, or a folder of WARC files.

    Raises:
        SourceError: There is none, or it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._files = find_sources(str(path))
            self._starts = list(accumulate(map(_size, self._files), initial=0))
        except (ArchiveError, OSError) as error:
            raise complaint(path, error) from None
        super().__init__(path)
        self._captures = Captures(self._files, MAX_BYTES)
        self._captured = self._capture()
        self._seen: set[bytes] = set()
        self._complaints: list[str] = []

    @property
    def notes(self) -> Sequence[str]:
        return self._complaints + self._left_out.notes("records") + self._gathering.notes

    def close(self) -> None:
        self._captured.close()
        self._captures.close()
        super().close()

    def _next(self) -> Iterator[Told] | None:
        captures = self._next_captures()
        # One after the other: each body may be of MAX_BYTES when it is decompressed.
        return self._told(captures) if captures else None

    def _next_captures(self) -> list[Capture]:
        """Return the next captures, bounded in number and bytes; none at the end."""
        found: list[Capture] = []
        size = 0
        with _complaints(self._complaints):
            for capture in self._captured:
                found.append(capture)
                size += len(capture.body)
                start = self._starts[self._files.index(capture.source)]
                self._progress = (start + capture.end) / (self._starts[-1] or 1)
                if len(found) == _SLICE or size >= _SLICE_BYTES:
                    break
        return found

    def _capture(self) -> Generator[Capture, None, None]:
        for _ in self._captures.look_through():
            pass
        yield from self._captures.pages(lambda _: 0)

    def _told(self, captures: Sequence[Capture]) -> Iterator[Told]:
        for capture in captures:
            try:
                told = self._tell(capture)
            except AnswerError as error:
                self._left_out.add(str(error))
            else:
                if told is not None:
                    yield told

    def _tell(self, capture: Capture) -> Told | None:
        if capture.status >= HTTPStatus.BAD_REQUEST:
            self._left_out.add("HTTP errors")
            return None
        key = _key(capture.url)
        if key in self._seen:
            self._left_out.add("URLs that were fetched again")
            return None
        self._seen.add(key)
        if NOT_TO_KEEP & robots_words(_fields(capture, "x-robots-tag"), ""):
            self._left_out.add("they ask not to be kept (noindex)")
            return None
        layers = codings(_fields(capture, "content-encoding"))
        body = open_body(capture.body, layers, MAX_BYTES).body if layers else capture.body
        kind = next(iter(_fields(capture, "content-type")), None)
        return Told(capture.url, "", None, body, kind)


def _size(file: File) -> int:
    return file.path.stat().st_size if file.length is None else file.length


def _key(url: str) -> bytes:
    """Return the key by which a crawl would know the page."""
    try:
        return _CANONICALIZER.key(url)
    except MalformedUrl:
        return payload_digest(url.encode("utf-8", "replace"))


def _fields(capture: Capture, name: str) -> list[str]:
    return [value for field, value in capture.headers if field.lower() == name]


@contextmanager
def _complaints(said: list[str]) -> Iterator[None]:
    """Take the log messages about an archive, which name URLs as they stand there."""
    taker = _Taker(said)
    logger = logging.getLogger(crawler.warc.__name__)
    spoke, logger.propagate = logger.propagate, False
    logger.addHandler(taker)
    try:
        yield
    finally:
        logger.removeHandler(taker)
        logger.propagate = spoke


class _Taker(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._said) < _MAX_COMPLAINTS:
            self._said.append(record.getMessage())
