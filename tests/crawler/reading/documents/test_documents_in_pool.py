"""Documents that are read in workers: the limits hold, and what is missing is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.reading.documents.kinds import DocumentKind
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import NoText, Reading
from tests.crawler.reading.documents.made import Placed, packed, pdf, stream_of, wrapped
from tests.crawler.reading.pools import URL, nothing_known, use

if TYPE_CHECKING:
    from crawler.reading.pool import ReadingPool

TWIN = "A page and a document that say the same words have one digest and one fingerprint."


def read(options: ReadingOptions, *bodies: bytes, content_type: str | None = None) -> list[Reading]:
    async def act(pool: ReadingPool) -> list[Reading]:
        return [await pool.read(URL, body, content_type, known=nothing_known) for body in bodies]

    return use(options, act)


def test_a_document_is_all_main_text() -> None:
    pytest.importorskip("pypdfium2")
    (reading,) = read(ReadingOptions(workers=1), pdf([wrapped(TWIN)], links=("c.pdf",)))
    assert reading.text == TWIN
    assert reading.extract is not None
    assert reading.extract.is_main
    assert [link.url for link in reading.links] == ["http://host.example/a/c.pdf"]


def test_without_the_library_a_document_is_a_file_that_says_so() -> None:
    kinds = frozenset(DocumentKind) - {DocumentKind.PDF}
    options = ReadingOptions(workers=1, documents=kinds)
    (missing,) = read(options, pdf([wrapped(TWIN)]))
    assert (missing.not_html, missing.no_text) == ("a PDF document", NoText.LIBRARY_MISSING)


def test_documents_that_are_not_wanted_are_files() -> None:
    options = ReadingOptions(workers=1, documents=frozenset())
    (file,) = read(options, pdf([wrapped(TWIN)]))
    assert (file.not_html, file.no_text) == ("a PDF document", NoText.OTHER_TYPE)


@pytest.mark.timeout(200)
def test_a_pdf_that_grows_beyond_the_memory_costs_its_worker_alone() -> None:
    pytest.importorskip("pypdfium2")
    bomb = stream_of(b"BT /F1 12 Tf 72 700 Td (x) Tj ET\n" * 3_000_000)
    options = ReadingOptions(workers=1, memory_limit_mb=300, timeout_secs=60)
    grown, after = read(options, bomb, pdf([wrapped(TWIN)]))
    assert len(bomb) < 400_000
    assert grown.failure is not None
    assert after.text == TWIN


def test_a_bomb_leaves_its_worker_alive() -> None:
    bomb = packed({"[Content_Types].xml": "", "word/document.xml": bytes(65 << 20)})
    refused, after = read(ReadingOptions(workers=1), bomb, pdf([[Placed("alive")]]))
    assert refused.no_text == NoText.TOO_LARGE
    assert after.failure is None
