"""Inputs that make scanners take quadratic time: here they are sizes that only linear ones bear."""

from __future__ import annotations

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import undo

PAGE = "http://host.example/"
MANY = 50_000


@pytest.mark.parametrize(
    "body",
    [
        b"<" * MANY,
        b"<a " * MANY,
        b"<a href=" * MANY,
        b'<a href="x ' * MANY,
        b"<!--" * MANY,
        b"<!-- -" * MANY,
        b"</" * MANY,
        b"<![CDATA[" * MANY,
        b"<svg>" * MANY + b"<p>" * MANY,
        b"<svg><![CDATA[" * MANY,
        b"<svg>" * MANY + b"</a>" * MANY,
        b"<svg><style><![CDATA[url(a)" * MANY,
        b"<base href=//x/" + b"a" * 8000 + b"/>" + b"<a href=?" * MANY,
        b"<script>" * MANY,
        b"<script><!--" + b"<script>" * MANY,
        b"<title>" * MANY,
        b"<a" + b" x=1" * MANY + b" href=y>",
        b"<a" + b" href=y" * MANY + b">",
        b"<img srcset='" + b"," * MANY + b"'>",
        b"<img srcset='" + b"a (" * MANY + b"'>",
        b"<p style='" + b"url(" * MANY + b"'>",
        b"<p style='" + b"&quot;url(a)" * MANY + b"'>",
        b"<style>" + b"/*" * MANY,
        b"<style>" + b'"\\' * MANY,
        b"<style>" + b"image-set(" * MANY,
        b"<style>" + b"a" * MANY,
        b"<meta http-equiv=refresh content='" + b" " * MANY + b"'>",
        b"<base href=//" + b"a/" * MANY + b">",
        b"<svg>" + b"<a xmlns:b='c' xml:base='d/' href='e'>" * MANY,
        b"<rss "
        + b" ".join(b"xmlns:a%d='b'" % number for number in range(MANY))
        + b">"
        + b"<a xmlns:b='c'>" * MANY,
        b"&" * MANY + b"<a href='" + b"&" * MANY + b"'>",
    ],
    ids=lambda body: body[:24].decode(),
)
@pytest.mark.parametrize("content_type", ["text/html", "text/css", "image/svg+xml"])
@pytest.mark.timeout(30)
def test_hostile_documents_are_read_in_linear_time(body: bytes, content_type: str) -> None:
    document = read_document(body, PAGE, content_type)
    assert document is not None
    rewritten = document.rewrite(lambda _: "x.html")
    assert undo(rewritten.body, rewritten.patch) == body
