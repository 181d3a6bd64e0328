"""Pages: HTML through the whole reading, its charsets, and what a worker sends to its parent."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.demo.demo_server import pages
from crawler.mirror.documents.charsets import (
    css_charset,
    html_charset,
    script_charset,
    xml_charset,
)
from crawler.reading.content.main_content import TRAFILATURA
from crawler.reading.content_types import why_not_html
from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.kinds import document_kind
from crawler.reading.link_kinds import NAMES
from crawler.reading.metadata.metadata_record import PageHeaders
from crawler.reading.page_reading import PageReader, logger
from crawler.reading.protocol import (
    Inbox,
    ReadingOptions,
    extracted_from_wire,
    extracted_to_wire,
    frame,
    parsed_from_wire,
    parsed_to_wire,
)
from crawler.reading.reading import ReadingTask, to_reading
from tests.crawler.reading.pages import article
from tests.crawler.reading.test_mutations import CHARSETS, PIECES, check_storable
from tests.fuzzing.target import Target, together
from tests.sites.tongues import TONGUES, page_of

if TYPE_CHECKING:
    from crawler.reading.protocol import Message
    from tests.fuzzing.target import Read

URL = "http://host.example/folder/page.html?x=1"
TYPES = (
    *(None, "", "text/html", "text/plain", "application/xhtml+xml", "text/xml", "image/png"),
    *(f"text/html; charset={charset}" for charset in CHARSETS),
)
_LIMITS = ReadingOptions(workers=1, max_links=1000, keep_html=True)
_SHORT_BYTES = 8_000


def typed(data: bytes) -> tuple[str | None, bytes]:
    """Take the first byte of an input for the number of a content type."""
    return TYPES[data[0] % len(TYPES)] if data else None, data[1:]


def _sample() -> list[bytes]:
    """Return pages of others, which stand in the project."""
    path = Path(__file__).parents[1] / "quality" / "sample" / "pages.jsonl.gz"
    with gzip.open(path) as lines:
        return [json.loads(line)["html"].encode() for line in lines]


def _seeds() -> list[bytes]:
    bodies = [page.body for _, page in sorted(pages("http://host.example").items())]
    bodies += [article(), article(before="<base href=//x/>" + PIECES[0].decode())]
    bodies += [page_of(tongue) for tongue in TONGUES.values()]
    bodies += _sample()
    short = [body for body in bodies if body and len(body) < _SHORT_BYTES]
    return [b"\x02" + body for body in short]


class _Raising(logging.Handler):
    """Raises what the reader catches so that the page is not lost: it is wrong all the same."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("%s: no ") and record.exc_info and record.exc_info[1]:
            raise record.exc_info[1]


class _Reading:
    """Reads a page as a worker and its parent do together, without the socket between them."""

    def __init__(self, options: ReadingOptions) -> None:
        self._options = options
        self._reader = PageReader(options)
        self._inbox = Inbox()
        logger.setLevel(logging.DEBUG)
        logger.addHandler(_Raising())

    def __call__(self, data: bytes) -> None:
        content_type, body = typed(data)
        kind = None
        if why_not_html(content_type, body) is not None:
            found = document_kind(content_type, body)
            if found is None:
                return
            kind = found.value
        task = ReadingTask(
            URL, body, content_type, kind=kind, headers=PageHeaders("<a>; rel=next"), made_at=1.7e9
        )
        try:
            parsed = parsed_from_wire(self._sent(parsed_to_wire(self._reader.parse(task))))
            parsed = parsed._replace(visible_digest=self._reader.see(parsed).visible_digest)
            sent = self._sent(extracted_to_wire(self._reader.extract(), tired=False))
        finally:
            self._reader.forget()
        extracted, _ = extracted_from_wire(sent)
        check_storable(to_reading(URL, parsed, extracted))

    def _sent(self, message: Message) -> Message:
        (found,) = self._inbox.feed(frame(message))
        return found


def _begin_pages(_: Path) -> Read:
    return _Reading(_LIMITS)


def _begin_mirrored(_: Path) -> Read:
    """Read as a mirror does, which collects links of all kinds."""
    return _Reading(ReadingOptions(workers=1, link_kinds=tuple(NAMES), shows_lines=True))


def _begin_trafilatura(_: Path) -> Read:
    return _Reading(ReadingOptions(workers=1, extractor=TRAFILATURA))


def _begin_charsets(_: Path) -> Read:
    def read(data: bytes) -> None:
        content_type, body = typed(data)
        decode(body, content_type).utf8.decode()
        for charset_of in (html_charset, css_charset, script_charset, xml_charset):
            charset_of(body, content_type)

    return read


def _charset_seeds() -> list[bytes]:
    text = '<?xml version="1.0" encoding="{0}"?><meta charset={0}><p>Été 水 привет</p>'
    css = '@charset "{0}"; a {{ content: "é" }}'
    return [
        bytes([number]) + form.format(name).encode(name, "replace")
        for number, name in enumerate(("utf-8", "utf-16", "latin-1", "gb18030", "shift_jis", "hz"))
        for form in (text, css)
    ]


TARGETS = (
    Target("html", _seeds, _begin_pages, (UnreadableError,)),
    together(
        "html-otherwise",
        Target("html-mirrored", _seeds, _begin_mirrored, (UnreadableError,)),
        Target("html-trafilatura", _seeds, _begin_trafilatura, (UnreadableError,)),
    ),
    Target("charsets", _charset_seeds, _begin_charsets, max_bytes=4096),
)
