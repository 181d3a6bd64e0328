"""Bad input through real workers: each gives a text or a reason, within the limits.

A worker that has read it reads the next page, or another worker does.
"""

from __future__ import annotations

import time
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import NoText, Reading
from tests.crawler.reading.documents.made import epub, packed, pdf, stream_of, wrapped
from tests.crawler.reading.pages import PROSE, article, page, shown_of
from tests.crawler.reading.pools import URL, nothing_known, use
from tests.sites.tongues import TONGUES, page_of

if TYPE_CHECKING:
    from crawler.reading.pool import ReadingPool

ONE = ReadingOptions(workers=1)
DEPTH = 10_000
FRENCH = "Été comme hiver, l'élève répète où êtes-vous passés, mes naïfs garçons. " * 6


def read(
    body: bytes, content_type: str | None = "text/html", options: ReadingOptions = ONE
) -> Reading:
    """Return what a pool reads of a body, after which it reads the next page."""

    async def act(pool: ReadingPool) -> Reading:
        reading = await pool.read(URL, body, content_type, known=nothing_known)
        after = await pool.read(URL, article(), "text/html", known=nothing_known)
        assert after.text is not None
        assert PROSE in after.text
        return reading

    return use(options, act)


def zipped(**entries: bytes) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "b", "blockquote", "section"])
def test_a_page_nested_ten_thousand_deep_is_read(tag: str) -> None:
    reading = read(page(f"<{tag}>" * DEPTH + f"<p>{PROSE}</p>"))
    assert reading.failure is None
    assert PROSE in shown_of(reading)
    assert PROSE in (reading.text or "")


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.999])
def test_a_page_that_breaks_off_is_read_as_far_as_it_goes(share: float) -> None:
    whole = page_of(TONGUES["ja"])
    reading = read(whole[: int(len(whole) * share)])
    assert reading.failure is None
    first = TONGUES["ja"].paragraphs[0]
    if first.encode() in whole[: int(len(whole) * share)]:
        assert first in shown_of(reading)


@pytest.mark.parametrize(
    ("encoding", "content_type"),
    [
        ("utf-8", "text/html; charset=us-ascii"),
        ("utf-8", "text/html; charset=x-klingon"),
        ("utf-8", "text/html; charset=iso-8859-1"),
        ("iso-8859-1", "text/html; charset=utf-8"),
        ("windows-1252", "text/html"),
        ("utf-16", "text/html; charset=utf-8"),
    ],
)
def test_a_page_in_another_charset_than_it_says_is_read(encoding: str, content_type: str) -> None:
    reading = read(f"<html><body><p>{FRENCH}</p></body></html>".encode(encoding), content_type)
    assert reading.failure is None
    assert FRENCH.strip() in shown_of(reading)


def test_bytes_that_are_no_text_are_read_or_refused() -> None:
    noise = zlib.compress(PROSE.encode() * 50)
    for body in (noise, bytes(1 << 20), b"\xff" * 100_000, b"<html>" + noise * 20):
        for content_type in ("text/html", "application/pdf", None):
            reading = read(body, content_type)
            assert reading.failure is None


LOCKED = pdf([wrapped(PROSE)]).replace(
    b"/Info 6 0 R",
    b"/Info 6 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    b" /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -3904"
    b" /O <%b> /U <%b> >>" % (b"41" * 32, b"42" * 32),
)
WORD: dict[str, str | bytes] = {"[Content_Types].xml": "", "word/document.xml": "<a/>"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (LOCKED, NoText.ENCRYPTED),
        (pdf([wrapped(PROSE)])[:300], NoText.DAMAGED),
        (b"%PDF-1.7\n", NoText.DAMAGED),
        (pdf([[]]), NoText.EMPTY),
        (packed(WORD)[:-40], NoText.DAMAGED),
        (packed(WORD | {"word/document.xml": "<a><b>"}), NoText.DAMAGED),
        (packed(WORD | {"word/document.xml": bytes(65 << 20)}), NoText.TOO_LARGE),
        (packed(WORD | {"word/document.xml": "<a>" * DEPTH}), NoText.DAMAGED),
        (packed(WORD | {"word/document.xml": packed(WORD)}), NoText.DAMAGED),
        (packed(WORD), NoText.EMPTY),
    ],
    ids="locked cut begun blank zip-cut xml-cut bomb deep zip-in-zip empty".split(),
)
def test_a_document_without_text_has_a_code(body: bytes, why: NoText) -> None:
    if body.startswith(b"%PDF"):
        pytest.importorskip("pypdfium2")
    reading = read(body, None)
    assert reading.failure is None
    assert (reading.no_text, bool(reading.not_html)) == (why, True)


def test_archives_within_an_archive_stay_closed() -> None:
    inner = zipped(bomb=bytes(65 << 20))
    plain = read(zipped(inner=inner), "application/zip")
    assert (plain.no_text, bool(plain.not_html)) == (NoText.OTHER_TYPE, True)
    book = read(epub({"a.xhtml": f"<p>{PROSE}</p>"}, more={"inner.zip": inner}), None)
    assert shown_of(book) == PROSE


@pytest.mark.timeout(200)
def test_a_pdf_that_would_take_long_has_a_code() -> None:
    pytest.importorskip("pypdfium2")
    started = time.monotonic()
    bomb = stream_of(b"BT /F1 12 Tf 72 700 Td (x) Tj ET\n" * 1_000_000)
    reading = read(bomb, None)
    assert time.monotonic() - started < 120
    assert reading.failure is not None or reading.not_html is not None
