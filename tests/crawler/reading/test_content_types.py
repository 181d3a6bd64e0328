from __future__ import annotations

import pytest

from crawler.reading.content_types import why_not_html

HTML = b"<!DOCTYPE html><html><body>x</body></html>"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html", HTML),
        ("TEXT/HTML; charset=utf-8", b"plain words"),
        ("text/html", b""),
        (None, b""),
        ("application/xhtml+xml", HTML),
        (None, HTML),
        ("", b"\n  <!-- a comment --> <html>"),
        ("text/plain", HTML),
        ("application/octet-stream", b"<?xml version='1.0'?><HTML lang=en>"),
        ("application/xml", b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'),
        (None, "<html><p>x".encode("utf-16")),
        (None, b"\xef\xbb\xbf<p>x"),
        (None, b"<br/>x"),
    ],
)
def test_pages_are_html(content_type: str | None, body: bytes) -> None:
    assert why_not_html(content_type, body) is None


@pytest.mark.parametrize(
    ("content_type", "body", "reason"),
    [
        ("application/pdf", b"%PDF-1.7", "a PDF document"),
        ("text/html", b"%PDF-1.7", "a PDF document"),
        ("text/html", b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (None, b"\x1f\x8b\x08", "gzip data"),
        ("image/svg+xml", b"<svg>", "image/svg+xml"),
        ("application/json; charset=utf-8", b"{}", "application/json"),
        ("application/pdf", b"", "application/pdf"),
        ("text/plain", b"Plain words, a < b", "text/plain"),
        ("text/xml", b"<?xml version='1.0'?><rss>", "text/xml"),
        (None, b"Plain words", "no HTML, and of no declared type"),
        (None, b"<rss><channel>", "no HTML, and of no declared type"),
        ("application/octet-stream", b"\x00\x01\x02", "application/octet-stream"),
    ],
)
def test_other_things_are_named(content_type: str | None, body: bytes, reason: str) -> None:
    assert why_not_html(content_type, body) == reason


@pytest.mark.parametrize("piece", [b"<!---->", b"<!-- -->\n", b"<?xml x>", b" ", b"<!--"])
def test_what_stands_before_the_markup_takes_no_time(piece: bytes) -> None:
    """A text of 290 comments once had 2**290 ways to be read."""
    body = piece * (2000 // len(piece))
    assert why_not_html("text/plain", body + b"x") == "text/plain"
    assert why_not_html("text/plain", piece * 20 + b"<p>x") == (
        "text/plain" if piece == b"<!--" else None
    )
