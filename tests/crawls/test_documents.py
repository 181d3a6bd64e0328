"""Documents are pages: read, judged, followed; and what cannot be read has a reason."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from docx import Document

from tests.crawler.reading.documents.made import Placed, epub, packed, pdf, wrapped
from tests.crawls.crawled import crawl_site
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.sites.exchange import Exchange

WORDS = prose("the twin", 300)
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def answer(body: bytes, content_type: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(body, content_type)


def described(body: bytes, content_type: str) -> Callable[[Exchange], None]:
    headers = {"Link": '</page>; rel="canonical"', "Content-Language": "fr"}
    return lambda exchange: exchange.answer(body, content_type, headers=headers)


def page(text: str) -> Callable[[Exchange], None]:
    body = f"<html><body><main><p>{text}</p></main></body></html>"
    return lambda exchange: exchange.answer(body.encode())


def word(text: str) -> bytes:
    document = Document()
    document.add_paragraph(text)
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def pages_of(text: str) -> list[list[Placed]]:
    lines = wrapped(text)
    return [
        [line._replace(y=700 - at * 14.4) for at, line in enumerate(lines[start : start + 20])]
        for start in range(0, len(lines), 20)
    ]


def test_documents_are_judged_followed_and_counted_as_pages_are(tmp_path: Path) -> None:
    book = epub({"a.xhtml": f"<p>{prose('book', 200)}</p>"})
    feed = "<rss><channel><title>News</title><item><title>One</title><link>/from-feed</link>"
    feed += f"<description>{prose('feed', 200)}</description></item></channel></rss>"
    linked = pdf(pages_of(prose("linking", 200)), links=("/from-pdf", "/again.pdf"))
    added = {
        "/page": page(WORDS),
        "/twin.pdf": described(pdf(pages_of(WORDS)), "application/octet-stream"),
        "/twin.docx": answer(word(WORDS), DOCX),
        "/linked.pdf": answer(linked, "application/pdf"),
        "/again.pdf": answer(linked, "application/pdf"),
        "/book.epub": answer(book, "application/epub+zip"),
        "/feed": answer(feed.encode(), "application/rss+xml"),
        "/notes.txt": answer(prose("notes", 200).encode(), "text/plain"),
        "/from-pdf": page(prose("from pdf", 200)),
        "/from-feed": page(prose("from feed", 200)),
        "/data.json": answer(b'{"a": 1}', "application/json"),
    }
    first = ("/page", "/twin.pdf", "/twin.docx", "/linked.pdf", "/book.epub", "/feed")
    with HostileSite(linked=(*first, "/notes.txt", "/data.json")) as site:
        site.added = added
        found = crawl_site(site, tmp_path, "-s", "CONCURRENT_REQUESTS=1")
    verdicts = {path: found.rows[path]["verdict"] for path in added}
    told = found.rows["/twin.pdf"]
    assert (told["declared_url"], told["language"]) == (site.at("/page"), "fr")
    twins = {path: verdicts.pop(path) for path in ("/page", "/twin.pdf", "/twin.docx")}
    assert sorted(twins.values()) == ["new", "text_duplicate", "text_duplicate"]
    assert verdicts.pop("/data.json") == "not_html"
    assert sorted((verdicts.pop("/linked.pdf"), verdicts.pop("/again.pdf"))) == [
        "exact_duplicate",
        "new",
    ]
    assert set(verdicts.values()) == {"new"}
    assert {"epub": 1, "feed": 1, "text": 1}.items() <= found.report.documents.items()


def test_documents_that_cannot_be_read_have_a_reason(tmp_path: Path) -> None:
    bomb = packed({"[Content_Types].xml": "", "word/document.xml": bytes(65 << 20)})
    added = {
        "/scan.pdf": answer(pdf([[]]), "application/pdf"),
        "/stamp.pdf": answer(pdf([[Placed("Scanned with CamScanner")]]), "application/pdf"),
        "/torn.pdf": answer(pdf(pages_of(WORDS))[:400], "application/pdf"),
        "/bomb.docx": answer(bomb, DOCX),
        "/nested.docx": answer(
            packed({"[Content_Types].xml": "", "word/document.xml": bomb}), DOCX
        ),
        "/after": page(WORDS),
    }
    with HostileSite(linked=tuple(added)) as site:
        site.added = added
        found = crawl_site(site, tmp_path)
    assert {path: found.rows[path]["reason"].partition(":")[0] for path in list(added)[:-1]} == {
        "/scan.pdf": "no text to be read",
        "/stamp.pdf": "no text to be read",
        "/torn.pdf": "cannot be read",
        "/bomb.docx": "too large to be read",
        "/nested.docx": "cannot be read",
    }
    assert found.rows["/after"]["verdict"] == "new"


def test_links_of_documents_and_documents_themselves_can_be_left(tmp_path: Path) -> None:
    linked = pdf(pages_of(WORDS), links=("/from-pdf",))
    with HostileSite(linked=("/linked.pdf",)) as site:
        site.added = {
            "/linked.pdf": answer(linked, "application/pdf"),
            "/from-pdf": page(prose("from pdf", 200)),
        }
        unfollowed = crawl_site(site, tmp_path / "a", "-s", "NEARDUP_DOCUMENT_LINKS=False")
        as_files = crawl_site(site, tmp_path / "b", "-s", "NEARDUP_DOCUMENTS=False")
    assert unfollowed.rows["/linked.pdf"]["verdict"] == "new"
    assert "/from-pdf" not in unfollowed.asked + as_files.asked
    assert as_files.rows["/linked.pdf"]["verdict"] == "not_html"
