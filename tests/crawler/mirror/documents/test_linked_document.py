from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import Addresses, as_ascii, is_local, read_document
from crawler.mirror.documents.places import undo
from crawler.reading.link_extraction import resolve

if TYPE_CHECKING:
    from crawler.mirror.documents.linked_document import DocumentLink

_PIECES = (
    b"<svg>|</svg>|<a href='|<p style=\"a:url(|')\">|<style>|</style>|<![CDATA[|]]>|<rss>|<link>"
    b"|</link>|<?xml version='1.0'|?>|<meta charset=|<base href=x>|<img srcset='|\xff|\x81|\0|\\"
    b"|\xef\xbb\xbf|\xfe\xff|&quot;|&amp|@import 'x|utf-16>|<title>|\x1b$B|</script>|x, y"
    b"|<script integrity=x src=y>|<meta http-equiv=refresh content='1;url="
).split(b"|")
_BODIES = st.lists(st.sampled_from(_PIECES) | st.binary(max_size=6), max_size=16).map(b"".join)
_TYPES = ("text/html", "text/css", "image/svg+xml", "application/rss+xml", "application/xhtml+xml")
_CHARSETS = tuple(
    f"; charset={name}" for name in ("", "utf-8", "utf-16", "shift_jis", "iso-2022-jp")
)


class TestDocumentProperties:
    @given(_BODIES, st.sampled_from(_TYPES), st.sampled_from(_CHARSETS), st.booleans())
    def test_whatever_is_rewritten_can_be_undone(
        self, body: bytes, media_type: str, charset: str, wide: bool
    ) -> None:
        if wide:
            body = body.decode("latin-1").encode("utf-16-le")
        document = read_document(body, "http://host.example/a/b", media_type + charset)
        if document is None:
            return
        asked: list[DocumentLink] = []

        def address_of(link: DocumentLink) -> str | None:
            asked.append(link)
            return None if len(asked) % 3 == 0 else f"new'\"&{len(asked)}"

        rewritten = document.rewrite(address_of)
        assert undo(rewritten.body, rewritten.patch) == body
        assert asked == [link for link in document.links if link.url is not None]
        assert (rewritten.patch == b"") == (rewritten.body == body)


@pytest.mark.parametrize("media_type", _TYPES)
def test_an_empty_body_is_an_empty_document(media_type: str) -> None:
    document = read_document(b"", "http://host.example/", media_type)
    assert document is not None
    assert list(document.links) == []
    assert document.rewrite(lambda _: "x") == (b"", b"")


_BASES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://h.example", "HTTPS://h.example:8/", "http://h.example/"]),
    st.text(alphabet="ab./~ ;", max_size=12),
    st.sampled_from(["", "?q/r", "#f/g"]),
)


class TestAddressesProperties:
    @given(_BASES, st.text(alphabet="ab./?#:;~\\ -", max_size=12))
    @example("http://h.example/a b/c", "d")
    @example("http://h.example/a/", "../../../b")
    @example("http://h.example/a//b/c", "../d")
    def test_urls_are_those_that_reading_finds(self, base: str, written: str) -> None:
        try:
            expected = resolve(base, written.partition("#")[0])
        except ValueError:
            expected = None
        found, fragment = Addresses(base, "utf-8").resolve(written)
        assert found == (None if expected is None else expected.partition("#")[0])
        assert fragment == written.partition("#")[2].rstrip()


def test_what_nobody_would_ask_for_has_no_url() -> None:
    assert Addresses("http://h.example/", "utf-8").resolve("x" * 9000) == (None, "")
    long = Addresses("http://h.example/" + "x" * 8000 + "/", "utf-8")
    urls = [long.resolve(f"?{number}")[0] for number in range(10_000)]
    assert urls[0] is not None
    assert urls[-1] is None


def test_addresses_are_told_apart_and_written_in_ascii() -> None:
    assert [is_local(each) for each in ("a/b", "//h/a", "http://h/a", "a?b:c", "#a")] == [
        True,
        False,
        False,
        True,
        True,
    ]
    assert as_ascii("http://h/ä b?c=%41#d") == "http://h/%C3%A4%20b?c=%41#d"
