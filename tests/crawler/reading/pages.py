"""Pages that the tests of this folder are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.reading.content.content_text import shown_text
from crawler.reading.content_types import why_not_html
from crawler.reading.page_reading import PageReader
from crawler.reading.reading import Reading, ReadingTask, to_reading

if TYPE_CHECKING:
    from crawler.reading.protocol import ReadingOptions

PROSE = (
    "The lighthouse on the northern rocks was built when ships still carried salt and timber along "
    "the coast, and for eighty years one family kept its lamp. Each evening somebody climbed the "
    "two hundred steps, trimmed the wick, wound the clockwork that turned the lens, and wrote the "
    "weather into a book bound in sailcloth. The books are still there, forty of them, and whoever "
    "reads them learns more about fog than about people."
)
NAVIGATION = "".join(
    f'<li><a href="/shelf/{number}">Shelf {number} of the reading room</a></li>'
    for number in range(150)
)


def page(body: str, head: str = "<title>A title</title>") -> bytes:
    return f"<!DOCTYPE html><html lang=en><head>{head}</head><body>{body}</body></html>".encode()


def article(prose: str = PROSE, *, before: str = "", after: str = "") -> bytes:
    return page(f"{before}<main><article><h1>Lamps</h1><p>{prose}</p></article></main>{after}")


def slow_page(copies: int = 6) -> bytes:
    """A page of 48 MB: extracted in four seconds or more, parsed and seen in a fourth of that."""
    # Numbered, since a long text is content once.
    paragraphs = "".join(f"<p>{number} {PROSE * copies}</p>" for number in range(19_000))
    return page(f'<a href="/from-slow">on</a><article>{paragraphs}</article>')


def sluggish_page() -> bytes:
    """A page that is extracted in about a second."""
    return slow_page(1)


def heavy_page() -> bytes:
    """A page of 24 MB whose tree takes some 700 MB."""
    return page("<p>a<b>x</b></p>" * 1_500_000)


def read_page(url: str, body: bytes, content_type: str | None, options: ReadingOptions) -> Reading:
    """Read a page in this process, without a limit of time or memory."""
    reason = why_not_html(content_type, body)
    if reason is not None:
        return Reading(url, not_html=reason)
    reader = PageReader(options)
    parsed = reader.see(reader.parse(ReadingTask(url, body, content_type)))
    return to_reading(url, parsed, reader.extract())


def shown_of(reading: Reading) -> str:
    """Return the content of a reading as plain text."""
    assert reading.extract is not None
    return shown_text(reading.extract.shown.xml_zstd)
