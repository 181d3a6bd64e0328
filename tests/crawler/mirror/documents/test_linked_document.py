from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import undo

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
