"""Pages of WARC files, read as a crawl reads them."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import contextmanager
from http import HTTPStatus
from itertools import accumulate
from typing import TYPE_CHECKING

from crawler.downloading.encodings import codings, open_body
from crawler.downloading.errors import AnswerError
from crawler.lab.sources.gathering import Gathering, Told
from crawler.lab.sources.source import SourceError
from crawler.reading.metadata import robots_words
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl
from crawler.warc.captures import Captures
from crawler.warc.errors import ArchiveError
from crawler.warc.sources import find_sources
from neardup.fingerprints.digest import payload_digest
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from crawler.lab.lab_page import LabPage
    from crawler.lab.sources.source import PageSource
    from crawler.warc.captures import Capture
    from crawler.warc.sources import WarcFile as File
    from neardup import Parameters

_SLICE = 128
_SLICE_BYTES = 1 << 26
_MAX_CAUSES = 20
_MAX_COMPLAINTS = 20
_NOT_TO_KEEP = frozenset({"noindex", "none"})
_CANONICALIZER = Canonicalizer()

MAX_BYTES = 32 * 1024 * 1024
"""The largest size of a body in bytes, also after decompression: the profile's DOWNLOAD_MAXSIZE."""


class WarcSource:
    """The pages of an archive in the order in which they were fetched, of each URL the first.

    What was fetched again is the same page and no duplicate, so it is left out.

    Args:
        path: A WARC file, a WACZ file, or a folder of WARC files.

    Raises:
        SourceError: There is none, or it cannot be opened.
    """

    folder: Path | None = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        try:
            self._files = find_sources(str(path))
            self._starts = list(accumulate(map(_size, self._files), initial=0))
        except (ArchiveError, OSError) as error:
            raise SourceError(_in_words(path, error)) from None
        self._gathering = Gathering()
        self._captures = Captures(self._files, MAX_BYTES)
        self._captured = self._capture()
        self._seen: set[bytes] = set()
        self._left_out: Counter[str] = Counter()
        self._complaints: list[str] = []
        self._read_bytes = 0

    @property
    def parts(self) -> Sequence[PageSource]:
        """See the protocol."""
        return (self,)

    @property
    def notes(self) -> Sequence[str]:
        """See the protocol."""
        own = [f"records left out: {count:,}: {why}" for why, count in self._left_out.items()]
        return self._complaints + own + self._gathering.notes

    @property
    def progress(self) -> float:
        """See the protocol."""
        return self._read_bytes / self._starts[-1] if self._starts[-1] else 1.0

    def parameters(self) -> Parameters:
        """See the protocol."""
        return DEFAULTS

    def read_new(self) -> list[LabPage]:
        """See the protocol."""
        try:
            while captures := self._next_captures():
                pages = self._gathering.take(self._told(captures))
                if pages:
                    return pages
        except (ArchiveError, OSError) as error:
            raise SourceError(_in_words(self.path, error)) from None
        self._read_bytes = self._starts[-1]
        return []

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """See the protocol."""
        return self._gathering.texts(ids)

    def is_superseded(self) -> bool:
        """See the protocol."""
        return False

    def close(self) -> None:
        """See the protocol."""
        self._captured.close()
        self._captures.close()
        self._gathering.close()

    def _next_captures(self) -> list[Capture]:
        """Return the next captures, bounded in number and bytes; none at the end."""
        found: list[Capture] = []
        size = 0
        with _complaints(self._complaints):
            for capture in self._captured:
                found.append(capture)
                size += len(capture.body)
                start = self._starts[self._files.index(capture.source)]
                self._read_bytes = start + capture.end
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
                self._leave_out(str(error))
            else:
                if told is not None:
                    yield told

    def _tell(self, capture: Capture) -> Told | None:
        if capture.status >= HTTPStatus.BAD_REQUEST:
            self._leave_out("HTTP errors")
            return None
        key = _key(capture.url)
        if key in self._seen:
            self._leave_out("URLs that were fetched again")
            return None
        self._seen.add(key)
        if _NOT_TO_KEEP & robots_words(_fields(capture, "x-robots-tag"), ""):
            self._leave_out("they ask not to be kept (noindex)")
            return None
        layers = codings(_fields(capture, "content-encoding"))
        body = open_body(capture.body, layers, MAX_BYTES).body if layers else capture.body
        kind = next(iter(_fields(capture, "content-type")), None)
        return Told(capture.url, "", None, body, kind)

    def _leave_out(self, why: str) -> None:
        known = why in self._left_out or len(self._left_out) < _MAX_CAUSES
        self._left_out[why if known else "other causes"] += 1


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


def _in_words(path: Path, error: ArchiveError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    return str(error)


@contextmanager
def _complaints(said: list[str]) -> Iterator[None]:
    """Take the log messages about an archive, which name URLs as they stand there."""
    taker = _Taker(said)
    logger = logging.getLogger("crawler.warc.captures")
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
