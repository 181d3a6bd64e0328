"""Read the pages of a WARC or WET file for a corpus, as a crawl reads them.

``neardup`` finds ``read`` by its entry point (``neardup.readers``), since it knows no HTML.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from crawler.downloading.encodings import AnswerError, codings, open_body
from crawler.reading.content.main_content import BLOCKS, EXTRACTORS
from crawler.reading.metadata.metadata_record import robots_words
from crawler.reading.pool import Html, read_html
from crawler.reading.protocol import ReadingOptions
from crawler.warc.captures import OTHER_METHOD, why_no_page
from crawler.warc.compression import unpacked
from crawler.warc.record_reading import read_records
from crawler.warc.record_writing import KIND_FIELD, PAGE
from neardup.batch.parsing import WebPage
from neardup.batch.rows import LeftOut

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.reading.reading import Reading
    from crawler.warc.record_reading import WholeRecord

MAX_BYTES = 32 * 1024 * 1024
"""Skip a body of more than this many bytes, also after decompression.

The same as DOWNLOAD_MAXSIZE of the profile.
"""

_LANGUAGES = "WARC-Identified-Content-Language"
"""The field of Common Crawl's WET files, codes with commas between them."""

_SLICE = 256
_SLICE_BYTES = 1 << 26
_NOT_TO_KEEP = frozenset({"noindex", "none"})
_OK = range(HTTPStatus.OK, HTTPStatus.MULTIPLE_CHOICES)


class _Answer(NamedTuple):
    """A response that may be a page."""

    joined: frozenset[tuple[str, str]]
    offset: int
    url: str
    date: str | None
    body: bytes
    content_type: str | None
    language: str | None


class WarcReader:
    """Reads archives in their order, each capture by itself."""

    extractors = EXTRACTORS

    def __call__(self, file: BinaryIO, extractor: str = BLOCKS) -> Iterator[WebPage | LeftOut]:
        """Yield the pages of an archive.

        Responses are read by a worker process, with the limits of time and memory of a crawl. The
        text of a WET file is taken as it is.

        Args:
            file: Seekable file, compressed record by record, as a whole, or not at all.
            extractor: One of ``extractors``; it finds the main text of HTML.

        Raises:
            OSError: The file cannot be read on; what was read of it was yielded.
        """
        waiting: list[_Answer] = []
        damage: list[LeftOut] = []
        others: deque[tuple[str, str]] = deque(maxlen=_SLICE)
        with ExitStack() as stack:
            options = ReadingOptions(workers=1, extractor=extractor)
            if (whole := unpacked(file)) is not None:
                file = stack.enter_context(whole.file)
            # A complaint names a place in the file; only the number of complaints counts here.
            complain = partial(_note, damage)
            if whole is not None and whole.damage is not None:
                complain(whole.damage)
            failure: OSError | None = None
            try:
                records = read_records(file, complain, max_bytes=MAX_BYTES)
                for record in records:
                    if record.kind == "request" and record.method not in {"GET", ""}:
                        others.extend(_joined(record))
                    told = _tell(record)
                    # The request of an answer may be the next record.
                    if told is not None and (_is_much(waiting) or isinstance(told, WebPage)):
                        yield from _read(waiting, others, options)
                        waiting.clear()
                    if isinstance(told, _Answer):
                        waiting.append(told)
                    elif told is not None:
                        yield told
            except OSError as error:
                failure = error
            yield from _read(waiting, others, options)
        yield from damage
        if failure is not None:
            raise failure


read = WarcReader()


def _note(damage: list[LeftOut], _: str) -> None:
    damage.append(LeftOut("damaged records"))


def _is_much(waiting: list[_Answer]) -> bool:
    return len(waiting) == _SLICE or sum(len(one.body) for one in waiting) > _SLICE_BYTES


def _tell(record: WholeRecord) -> _Answer | WebPage | LeftOut | None:
    if record.kind == "conversion":
        return _conversion(record)
    if record.kind == "revisit":
        return LeftOut("revisits, whose page is in another record")
    if not record.is_answer or urlsplit(record.url).path == "/robots.txt":
        return None
    return _answer(record) if record.field(KIND_FIELD) in {None, PAGE} else None


def _conversion(record: WholeRecord) -> WebPage | LeftOut:
    if record.payload is None:
        return LeftOut(_too_large())
    text = record.payload.decode("utf-8", "replace")
    date, languages = record.field("WARC-Date"), record.field(_LANGUAGES)
    return WebPage(record.offset, record.url, text, date=date, language=languages)


def _answer(record: WholeRecord) -> _Answer | LeftOut:
    if record.kind == "response" and record.status not in _OK:
        return LeftOut("HTTP errors and redirects")
    if (lack := why_no_page(record)) is not None:
        return LeftOut(lack)
    if record.payload is None:
        return LeftOut(_too_large())
    if _NOT_TO_KEEP & robots_words(_fields(record, "x-robots-tag"), ""):
        return LeftOut("they ask not to be kept (noindex)")
    layers = codings(_fields(record, "content-encoding"))
    try:
        body = open_body(record.payload, layers, MAX_BYTES).body if layers else record.payload
    except AnswerError:
        return LeftOut("bodies that cannot be decompressed")
    kind, language = record.content_type, record.header("Content-Language")
    date, joined = record.field("WARC-Date"), frozenset(_joined(record))
    return _Answer(joined, record.offset, record.url, date, body, kind, language)


def _joined(record: WholeRecord) -> list[tuple[str, str]]:
    return [(identity, record.url) for identity in record.joined]


def _fields(record: WholeRecord, name: str) -> list[str]:
    headers = () if record.http is None else record.http.headers
    return [value for field, value in headers if field.lower() == name]


def _too_large() -> str:
    return f"larger than {MAX_BYTES >> 20} MB"


def _read(
    waiting: list[_Answer], others: Collection[tuple[str, str]], options: ReadingOptions
) -> Iterator[WebPage | LeftOut]:
    """Read answers; leave out those to requests of another method, by what joins both."""
    answers = [one for one in waiting if one.joined.isdisjoint(others)]
    yield from [LeftOut(OTHER_METHOD)] * (len(waiting) - len(answers))
    if not answers:
        return
    pages = [Html(one.url, one.body, one.content_type) for one in answers]
    readings = read_html(pages, options)
    for answer, reading in zip(answers, readings, strict=True):
        yield _page(answer, reading)


def _page(answer: _Answer, reading: Reading) -> WebPage | LeftOut:
    if reading.not_html is not None:
        return LeftOut("no HTML")
    if reading.extract is None:
        return LeftOut("pages that could not be read")
    if _NOT_TO_KEEP & set(reading.metadata.robots):
        return LeftOut("they ask not to be kept (noindex)")
    return WebPage(
        answer.offset,
        answer.url,
        reading.extract.judged_text,
        reading.extract.is_main,
        reading.visible_digest,
        reading.metadata.full_title,
        answer.date,
        reading.metadata.language or answer.language,
    )
