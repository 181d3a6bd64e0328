"""What headers say of a page: read where the page says nothing, and never trusted for more."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.metadata.declared_headers import header_links, with_headers
from crawler.reading.metadata.metadata_record import NO_HEADERS, NO_METADATA, Metadata, PageHeaders
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.documents.made import epub
from tests.crawler.reading.pages import PROSE, article
from tests.crawler.reading.pools import nothing_known, use

if TYPE_CHECKING:
    from crawler.reading.reading import Reading

URL = "http://host.example/folder/page.html"


def said(link: str | None = None, language: str | None = None) -> Metadata:
    return with_headers(NO_METADATA, PageHeaders(link, language), URL)


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ('<http://host.example/a>; rel="canonical"', "http://host.example/a"),
        ("</a>; rel=canonical", "http://host.example/a"),
        ("<b?x=1,2;3>;rel=Canonical", "http://host.example/folder/b?x=1,2;3"),
        ('<a.css>; rel=preload; as=style, <a>; rel="nofollow canonical"', f"{URL[:27]}a"),
        ('<a>; title="x, <b>; rel=canonical"; rel=next', None),
        ('<a>; rel=canonical; anchor="#part"', None),
        ("<javascript:alert(1)>; rel=canonical", None),
        ("<http://[bad/>; rel=canonical", None),
        ("<a>, rel=canonical", None),
        ("", None),
        (None, None),
    ],
)
def test_the_canonical_url_is_read(link: str | None, canonical: str | None) -> None:
    found = said(link)
    assert found.canonical_url == canonical
    assert dict(found.sources).get("declared_url") == (canonical and "header:link")
    assert found.identifiers == (() if canonical is None else (f"canonical:{canonical}",))


def test_translations_are_read() -> None:
    found = said('<a>; rel=alternate; hreflang=en, </b>; rel="alternate"; hreflang="pt-BR"')
    assert found.alternates == (
        ("en", "http://host.example/folder/a"),
        ("pt-BR", "http://host.example/b"),
    )
    assert dict(found.sources) == {"alternates": "header:link"}
    assert said("<a>; rel=alternate; type=application/rss+xml").alternates == ()


@pytest.mark.parametrize(
    ("header", "language"), [("de", "de"), (" pt-BR ", "pt-BR"), ("en, fr", None), ("<b>", None)]
)
def test_the_language_is_read_where_it_is_one(header: str, language: str | None) -> None:
    assert said(language=header).language == language


def test_what_the_page_says_comes_first() -> None:
    page = Metadata(
        language="ja",
        canonical_url="http://host.example/own",
        alternates=(("ja", "http://host.example/own"),),
    )
    headers = PageHeaders("<a>; rel=canonical, <b>; rel=alternate; hreflang=de", "de")
    assert with_headers(page, headers, URL) == page
    assert with_headers(page, NO_HEADERS, URL) is page


class TestLinkHeaderProperties:
    @given(st.text(st.sampled_from("<>;,= \"'a/:relcanonicalhreflangalternate-x")), st.text())
    def test_any_header_is_read(self, link: str, language: str) -> None:
        found = said(link, language)
        assert len(found.alternates) <= 50

    @pytest.mark.parametrize(
        "piece", ["<", "<a>", "<a>;", "; a", '<a>;b="', "<a>;rel=x,", "<a>;a=a"]
    )
    def test_long_headers_take_no_time(self, piece: str) -> None:
        started = time.process_time()
        said(piece * (1_000_000 // len(piece)))
        assert time.process_time() - started < 1


def test_workers_are_told_the_headers_of_pages_and_documents() -> None:
    said = {"Link": [b"</a>; rel=canonical", b"</b>; rel=next"], "Content-Language": [b"de"]}
    headers = PageHeaders.of(lambda name: said.get(name, []))

    async def act(pool) -> list[Reading]:  # type: ignore[no-untyped-def]
        return [
            await pool.read(URL, body, None, headers=headers, known=nothing_known)
            for body in (article(), epub({"a.xhtml": f"<p>{PROSE}</p>"}))
        ]

    page, book = (one.metadata for one in use(ReadingOptions(workers=1), act))
    assert (page.canonical_url, page.language) == ("http://host.example/a", "en")
    assert (book.canonical_url, book.language) == ("http://host.example/a", "de")
    assert dict(book.sources)["language"] == "header:content-language"


def test_an_answer_without_such_headers_has_none() -> None:
    assert PageHeaders.of(lambda _: []) is NO_HEADERS


def test_headers_lead_to_other_pages() -> None:
    headers = PageHeaders(
        link='</b>; rel="next", </c.css>; rel=preload, </>; rel=preconnect',
        refresh="5; url=later",
        content_location="page.en",
        location="made",
    )
    assert header_links(headers, "http://host.example/a/") == {
        "later": "refresh",
        "http://host.example/b": "relation",
        "http://host.example/c.css": "resource",
        "page.en": "header",
        "made": "header",
    }


@pytest.mark.parametrize(
    "link",
    [
        r'</b>; title="say \"hi\", <x>"; rel="next"',
        r'</b>; rel="next"; title="ends in \\"',
        "</b>; rel=next; rel=stylesheet",
        '</b>; REL="next"; rel="canonical"',
        '</b>; title=say "hi"; rel=next',
        "</b> ;; ; rel = next ; x",
        '</b>; title; rel="n\\ext"',
        '</b>; rel=next; title="never closed, <x>; rel=prev',
    ],
)
def test_parameters_are_read_as_their_standard_has_it(link: str) -> None:
    found = header_links(PageHeaders(link=link), "http://host.example/a/")
    assert found == {"http://host.example/b": "relation"}


@pytest.mark.parametrize("refresh", ["", "5", "5;", "url=", "5; url=''", "never", "-1", "url=/x"])
def test_a_page_that_reloads_itself_leads_nowhere(refresh: str) -> None:
    assert header_links(PageHeaders(refresh=refresh), "http://host.example/") == {}
