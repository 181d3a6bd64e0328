from __future__ import annotations

import codecs

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import undo

PAGE = "http://host.example/a/page.html"
RUSSIAN = "Где находится страница, которую здесь искали"


def rewrite(body: bytes, content_type: str, address: str | None = "new.html") -> bytes:
    document = read_document(body, PAGE, content_type)
    assert document is not None
    rewritten = document.rewrite(lambda _: address)
    assert undo(rewritten.body, rewritten.patch) == body
    return rewritten.body


@pytest.mark.parametrize(
    ("page", "encoding", "charset", "expected"),
    [
        ("<html><head><p>é", "utf-8", "utf-8", '<html><head><meta charset="utf-8"/><p>é'),
        ("<!doctype html><p>é", "utf-8", "utf-8", '<!doctype html><meta charset="utf-8"/><p>é'),
        ("<p>é", "cp1252", "iso-8859-1", '<meta charset="windows-1252"/><p>é'),
        ("<!-- x --><html lang='>'><p>é", "utf-8", None,
         "<!-- x --><html lang='>'><meta charset=\"utf-8\"/><p>é"),
        (f"<head><meta charset=utf-8>{RUSSIAN}", "koi8-r", "koi8-r",
         f'<head><meta charset="koi8-r"/><meta charset=utf-8>{RUSSIAN}'),
        ("<meta charset=utf-8>é", "utf-8", "utf-8", "<meta charset=utf-8>é"),
        ("<head><p>e", "ascii", "utf-8", '<head><meta charset="utf-8"/><p>e'),
        ("<head><p>e", "ascii", None, "<head><p>e"),
        ("\ufeff<p>é", "utf-8", "utf-8", "\ufeff<p>é"),
    ],
)  # fmt: skip
def test_a_page_says_its_encoding_where_only_the_header_did(
    page: str, encoding: str, charset: str | None, expected: str
) -> None:
    content_type = f"text/html; charset={charset}" if charset else "text/html"
    assert rewrite(page.encode(encoding), content_type) == expected.encode(encoding)


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("a{b:'é'}".encode(), "text/css; charset=utf-8", "@charset \"utf-8\";a{b:'é'}".encode()),
        ("a{b:'é'}".encode(), "text/css", "a{b:'é'}".encode()),
        ('@charset "utf-8";é'.encode(), "text/css; charset=UTF-8", '@charset "utf-8";é'.encode()),
        (
            "<svg>é</svg>".encode("cp1252"),
            "image/svg+xml; charset=windows-1252",
            '<?xml version="1.0" encoding="windows-1252"?><svg>é</svg>'.encode("cp1252"),
        ),
        (
            "<?xml version='1.0'?><svg>é</svg>".encode("cp1252"),
            "image/svg+xml; charset=windows-1252",
            "<?xml version='1.0' encoding=\"windows-1252\"?><svg>é</svg>".encode("cp1252"),
        ),
        ("<svg>é</svg>".encode(), "image/svg+xml; charset=utf-8", "<svg>é</svg>".encode()),
    ],
)
def test_style_sheets_and_xml_say_it_too(body: bytes, content_type: str, expected: bytes) -> None:
    assert rewrite(body, content_type) == expected


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("marked", [True, False])
def test_pages_in_utf16_are_rewritten_in_utf16(encoding: str, marked: bool) -> None:
    page = '<!doctype html><title>page 𝄞</title><a href="one">x 𝄞</a><img src=two>'
    mark = codecs.BOM_UTF16_LE if encoding.endswith("le") else codecs.BOM_UTF16_BE
    body = (mark if marked else b"") + page.encode(encoding)
    expected = page.replace("one", "new.html").replace("two", "new.html")
    assert rewrite(body, "text/html") == mark + expected.encode(encoding)
    odd = body + b"\0"
    assert rewrite(odd, "text/html") == mark + expected.encode(encoding) + b"\0"


@pytest.mark.parametrize("encoding", ["shift_jis", "gbk", "big5", "iso2022_jp", "euc_jp"])
def test_characters_that_hold_ascii_bytes_hide_nothing(encoding: str) -> None:
    # The second byte of the first sign is a backslash in Shift_JIS, and of others elsewhere.
    sign = {"gbk": "淺", "big5": "功"}.get(encoding, "表")
    page = f"<meta charset={encoding}><p style=\"a:'{sign}';b:url({sign}{sign})\"><a href='{sign}'>"
    body = page.encode(encoding)
    new = rewrite(body, f"text/html; charset={encoding}")
    assert "url(new.html)\"><a href='new.html'>" in new.decode(encoding)
    document = read_document(body, PAGE, f"text/html; charset={encoding}")
    assert document is not None
    assert [link.written for link in document.links] == [sign * 2, sign]


def test_queries_are_sent_in_the_encoding_of_the_page() -> None:
    body = "<a href='?q=ü'>äöü".encode("cp1252")
    document = read_document(body, PAGE, "text/html; charset=windows-1252")
    assert document is not None
    assert document.links[0].url == f"{PAGE}?q=%FC"
