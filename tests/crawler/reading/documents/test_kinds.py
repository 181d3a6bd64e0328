from __future__ import annotations

import pytest

from crawler.reading.documents.kinds import DocumentKind, document_kind, may_begin_document
from tests.crawler.reading.documents.made import Placed, epub, packed, pdf

PDF = pdf([[Placed("x")]])
WORD = packed({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"})
SLIDES = packed({"_rels/.rels": "", "ppt/presentation.xml": "", "[Content_Types].xml": ""})
TEXT = packed({"content.xml": ""}, mimetype="application/vnd.oasis.opendocument.text")
DRAWING = packed({"content.xml": ""}, mimetype="application/vnd.oasis.opendocument.graphics")
RSS = b"<?xml version='1.0'?>\n<!-- a feed -->\n<rss version='2.0'><channel/></rss>"
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"/>'


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("application/pdf", PDF, "pdf"),
        ("application/octet-stream", PDF, "pdf"),
        ("text/html; charset=utf-8", PDF, "pdf"),
        (None, PDF, "pdf"),
        ("application/pdf", b"\n\n" + PDF, "pdf"),
        ("application/pdf", b"<html><body>Please log in", None),
        ("application/octet-stream", b"\n\n" + PDF, None),
        ("application/octet-stream", WORD, "word"),
        ("application/zip", SLIDES, "slides"),
        ("application/vnd.oasis.opendocument.text", TEXT, "opendocument"),
        ("application/vnd.oasis.opendocument.graphics", DRAWING, None),
        ("application/epub+zip", epub({"a.xhtml": "<p>a</p>"}), "epub"),
        ("application/zip", packed({"a.txt": "words"}), None),
        ("application/vnd.ms-excel", packed({"[Content_Types].xml": "", "xl/book.xml": ""}), None),
        ("application/msword", b"\xd0\xcf\x11\xe0", None),
        ("text/plain", b"Plain words, a < b", "text"),
        ("text/plain", b"<html><p>a page", None),
        ("text/plain", bytes(range(256)), None),
        ("text/plain", "\ufeffwide".encode("utf-16"), "text"),
        ("text/plain", b"", None),
        ("text/markdown; charset=utf-8", b"# Heading", "markdown"),
        ("application/rss+xml", RSS, "feed"),
        ("text/xml", b"\xef\xbb\xbf" + RSS, "feed"),
        ("application/atom+xml", ATOM, "feed"),
        ("application/xml", b'<a:feed xmlns:a="http://www.w3.org/2005/Atom"/>', "feed"),
        ("application/rss+xml", RSS.decode().encode("utf-16"), "feed"),
        ("text/xml", ATOM.decode().encode("utf-16-be"), "feed"),
        ("application/xml", b"<urlset/>", None),
        ("application/rss+xml", b"<error>gone</error>", None),
        ("application/json", b'{"a": 1}', None),
        ("image/png", b"\x89PNG\r\n", None),
    ],
)
def test_the_first_bytes_decide_and_else_the_declared_type(
    content_type: str | None, body: bytes, kind: str | None
) -> None:
    assert document_kind(content_type, body) == kind


@pytest.mark.parametrize("body", [PDF, WORD, SLIDES, TEXT, epub({"a.xhtml": "<p>a</p>"})])
def test_a_document_is_not_cut_off_by_its_first_bytes(body: bytes) -> None:
    start = body[:2048]
    assert may_begin_document("application/octet-stream", start, frozenset(DocumentKind))
    assert not may_begin_document("application/octet-stream", start, frozenset())


def test_an_archive_of_other_files_is_cut_off() -> None:
    start = packed({"photo.jpg": b"\xff\xd8\xff" * 900})[:2048]
    assert not may_begin_document("application/zip", start, frozenset(DocumentKind))


def test_a_start_made_of_comments_is_read_in_linear_time() -> None:
    body = b"<!---->" * 290 + b"<rss "
    assert document_kind("text/xml", body) == ("feed" if len(body) <= 2048 else None)
