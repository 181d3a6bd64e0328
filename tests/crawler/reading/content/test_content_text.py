"""No word of a content is lost in what is written of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.etree import Element, SubElement, fromstring, tostring
from markdown_it import MarkdownIt

from crawler.reading.content.content_text import html, markdown, plain_text, shown_text, xml
from crawler.reading.content.content_xml import pack_content

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


def test_signs_of_markup_in_addresses_stay_out_of_the_text() -> None:
    body = body_of('<p>One <ref target="a?x=&lt;/p&gt;&quot;&gt;two">three</ref> four.</p>')
    assert shown_text(pack_content(body)) == "One three four."


TABLE = (
    '<table><row><cell role="head">A</cell><cell role="head">B</cell></row>'
    '<row><cell role="head">r</cell><cell>x|y</cell></row><row><cell>c<p>d</p></cell></row></table>'
)


@pytest.mark.parametrize(
    ("inner", "written", "plain"),
    [
        (TABLE, "| A | B |\n|---|---|\n| r | x\\|y |\n| c<br>d |", "A\tB\nr\tx|y\nc d"),
        (
            '<table><row><cell role="head">Born</cell><cell>1900</cell></row></table>',
            "|  |  |\n|---|---|\n| Born | 1900 |",
            "Born\t1900",
        ),
        (
            '<list rend="ol"><item n="9">a</item><item n="10">b<list><item>c</item></list></item>'
            '<item n="20">d</item></list>',
            "9. a\n10. b\n    - c\n20) d",
            "- a\n- b\n  - c\n- d",
        ),
        (
            '<list><item>a<code rend="block">x\n\n y</code>b</item>'
            "<item><p>c</p><p>d</p></item></list>",
            "- a\n\n  ```\n  x\n\n   y\n  ```\n\n  b\n- c\n\n  d",
            "- a\n  x\n\n   y\n  b\n- c\n  d",
        ),
        (
            '<list rend="dl"><item rend="dt">a</item><item rend="dd">b</item></list>',
            "- a\n\n  b",
            "- a\n  b",
        ),
        (
            "<list><item>a</item></list><list><item>b</item></list>",
            "- a\n\n* b",
            "- a\n- b",
        ),
        ("<quote><p>a</p><p>b<lb/>c</p></quote>", "> a\n>\n> b  \n> c", "a\nb\nc"),
        ("<p>see \\(a_1 &lt; b\\): \\[x\\]</p>", "see $a_1 < b$:\n$$\nx\n$$", None),
        ("<table><row><cell>\\[x\\]</cell></row></table>", "|  |\n|---|\n| $$x$$ |", None),
        ("<p>a<lb/><lb/>b<lb/>c</p>", "a\n\nb  \nc", "a\nb\nc"),
        ('<p><hi rend="#b">a<lb/> <lb/>b</hi></p>', "**a**\n\n**b**", "a\nb"),
        ("<quote>a<lb/><lb/>b</quote>", "> a\n>\n> b", "a\nb"),
    ],
)
def test_blocks_keep_their_shape(inner: str, written: str, plain: str | None) -> None:
    assert markdown(body_of(inner)) == written
    if plain is not None:
        assert plain_text(body_of(inner)) == plain


def test_lists_and_tables_of_html_are_what_they_are() -> None:
    ordered = '<list rend="ol"><item n="3">a</item></list>'
    defined = '<list rend="dl"><item rend="dt">b</item><item rend="dd">c</item></list>'
    written = xml(html(body_of(ordered + defined + TABLE)), "html")
    assert '<ol><li value="3">a</li></ol><dl><dt>b</dt><dd>c</dd></dl>' in written
    assert "<tr><th>A</th><th>B</th></tr><tr><th>r</th><td>x|y</td></tr>" in written


PUNCTUATION = st.text(st.sampled_from("ab1 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), max_size=30)


@given(
    st.lists(PUNCTUATION, min_size=1, max_size=3), st.sampled_from(["p", "item", "cell", "head"])
)
def test_markdown_says_what_the_page_says(lines: list[str], place: str) -> None:
    lines = [re.sub(r"\\+(?=[(\[])", "", line) for line in lines]  # no formulas
    body = Element("body")
    holder = {"item": ["list"], "cell": ["table", "row"]}.get(place, [])
    made = body
    for tag in [*holder, place]:
        made = SubElement(made, tag)
    made.text = lines[0]
    for line in lines[1:]:
        SubElement(made, "lb").tail = line
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown(body))
    rendered = rendered.replace("<br>", " ")
    shown = "".join(fromstring(f"<r>{rendered}</r>").itertext())
    assert shown.split() == " ".join(lines).split()


MARKED = st.text(st.sampled_from("ab1 注：“(*!"), max_size=8)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["", "#b", "#i", "del"]), MARKED), max_size=6))
def test_marks_of_emphasis_are_read_as_such(pieces: list[tuple[str, str]]) -> None:
    body = Element("body")
    paragraph = made = SubElement(body, "p")
    for mark, text in pieces:
        if mark:
            made = SubElement(paragraph, "del" if mark == "del" else "hi", rend=mark)
            made.text = text
        elif made is paragraph:
            paragraph.text = (paragraph.text or "") + text
        else:
            made.tail = (made.tail or "") + text
    rendered = MarkdownIt("commonmark").enable("strikethrough").render(markdown(body))
    shown = "".join(fromstring(f"<r>{rendered}</r>").itertext())
    assert "".join(shown.split()) == "".join("".join(text for _, text in pieces).split())


@pytest.mark.parametrize(
    ("inner", "written"),
    [
        ("<p>a</p><p>b<lb/>c</p>", "a<br>b<br>c"),
        ("<list><item>a</item><item>b</item></list>", "- a<br>- b"),
        ('<code rend="block">x = 1\n  y</code>', "`x = 1`<br> `y`"),
        ("<table><row><cell>a</cell><cell>b</cell></row></table>c", "a b<br>c"),
        ("a | <code>b | c</code>", "a \\| `b \\| c`"),
    ],
)
def test_lines_of_a_cell_stay_lines(inner: str, written: str) -> None:
    body = body_of(f"<table><row><cell>{inner}</cell></row></table>")
    assert markdown(body).split("\n")[-1] == f"| {written} |"


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
    assert shown_text(pack_content(fromstring(stored))) == plain_text(fromstring(stored))
    assert tostring(body) == stored
