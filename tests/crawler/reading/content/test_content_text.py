"""No word of a content is lost in what is written of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import Element, SubElement, fromstring, tostring

from crawler.reading.content.content_text import html, markdown, plain_text, xml

WORD = re.compile(r"w\d+")
INLINE = ("ref", "hi", "code", "del")
PLACES = ("p", "item", "cell", "head", "quote")


def body_of(inner: str) -> Any:
    return fromstring(f"<body>{inner}</body>")


@pytest.mark.parametrize(
    ("inner", "written"),
    [
        (
            '<p>First <code><ref target="b.html">linked</ref></code> then text.</p>',
            "First [`linked`](b.html) then text.",
        ),
        (
            '<p><code><ref target="x">a</ref></code>, <code><ref target="y">b</ref></code>, c</p>',
            "[`a`](x), [`b`](y), c",
        ),
        (
            '<p>A <code>pre <ref target="z">link</ref> post</code> tail</p>',
            "A `pre link post` tail",
        ),
        ("<code>one<lb/>two</code>", "```\none\ntwo\n```"),
    ],
)
def test_links_in_code_and_the_text_behind_are_written(inner: str, written: str) -> None:
    assert markdown(body_of(inner)) == written


def test_code_within_a_line_is_no_block_of_html() -> None:
    body = body_of("<p>with <code>x = 1</code>, and</p><code>one<lb/>two</code>")
    written = xml(html(body), "html")
    assert "<p>with <code>x = 1</code>, and</p>" in written
    assert "<pre>one<br>two</pre>" in written


Tree = tuple[str, list[Any]]
nested = st.recursive(
    st.just("w"),
    lambda inner: st.tuples(st.sampled_from(INLINE), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
blocks = st.lists(
    st.tuples(
        st.sampled_from(["p", "item", "cell", "head", "quote"]), st.lists(nested, max_size=4)
    ),
    min_size=1,
    max_size=3,
)


class Writer:
    """Makes a content of distinct words."""

    def __init__(self) -> None:
        self.count = 0

    def word(self) -> str:
        self.count += 1
        return f" w{self.count} "

    def add(self, into: Any, pieces: list[Any]) -> None:
        into.text = self.word()
        for piece in pieces:
            if piece == "w":
                continue
            made = SubElement(into, piece[0])
            if piece[0] == "ref":
                made.set("target", "http://h.test/")
            elif piece[0] == "hi":
                made.set("rend", "#b")
            self.add(made, piece[1])
            made.tail = self.word()

    def body(self, rows: list[tuple[str, list[Any]]]) -> Any:
        body = Element("body")
        for kind, pieces in rows:
            place = body
            if kind == "item":
                place = SubElement(body, "list", rend="ul")
            elif kind == "cell":
                place = SubElement(SubElement(body, "table"), "row")
            made = SubElement(place, kind)
            if kind == "head":
                made.set("rend", "h2")
            self.add(made, pieces)
        return body


@given(blocks)
def test_all_words_are_written_once_and_in_order(rows: list[tuple[str, list[Any]]]) -> None:
    writer = Writer()
    body = writer.body(rows)
    words = [f"w{number}" for number in range(1, writer.count + 1)]
    stored = tostring(body)
    assert WORD.findall(markdown(body)) == words
    assert WORD.findall(xml(html(body), "html")) == words
    assert WORD.findall(plain_text(fromstring(stored))) == words
    assert tostring(body) == stored
