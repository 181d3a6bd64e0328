"""The main content of pages: what is taken, what is left, and that bad pages do no harm."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.blocks import cut_blocks
from crawler.reading.content import MainContent, read_content
from crawler.reading.content_body import build_body
from crawler.reading.content_model import PAGE_TYPES
from crawler.reading.html_parsing import parse

PROSE = (
    "The harbour lies behind a long mole of granite, which was built when the ferries came, and "
    "which keeps the swell out in all winds but those of the south. Pilots wait at the outer buoy. "
)
ARTICLE = f"""<html><head><title>The harbour</title></head><body>
<nav class="main-menu"><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>
<main><article><h1>The harbour</h1>{"".join(f"<p>Part {at}. {PROSE * 3}</p>" for at in range(6))}
<ul><li>First light</li><li>Second <a href="/light">light</a></li></ul></article></main>
<footer class="footer"><p>Copyright 2024. All rights reserved.</p><a href="/c">Contact us</a>
</footer></body></html>"""


def content_of(html: str, url: str = "http://example.org/") -> MainContent:
    return read_content(parse(html.encode()), url)


def text_of(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_content_leaves_menus_and_footers_out() -> None:
    content = content_of(ARTICLE, "http://example.org/blog/the-harbour")
    text = text_of(content.body)
    assert text.count("Pilots wait at the outer buoy.") == 18
    assert "Shop" not in text
    assert "All rights reserved" not in text
    assert content.kind in PAGE_TYPES


def test_reading_content_leaves_the_tree_as_it_was() -> None:
    root = parse(ARTICLE.encode())
    before = text_of(root)
    read_content(root)
    assert text_of(root) == before


def test_posts_that_only_noscript_has_are_content() -> None:
    posts = "".join(f"<div class=post><p>{PROSE}</p></div>" for _ in range(5))
    content = content_of(
        f"<html><body><div id=app></div><noscript>{posts}</noscript></body></html>"
    )
    assert text_of(content.body).count("Pilots wait") == 5


def test_body_keeps_lists_tables_code_links_and_images() -> None:
    html = """<body><h2>Title</h2><p>One <b>bold</b> <a href="/a">link</a>.<br>New line</p>
    <ul><li>first</li><li>second</li></ul><pre>a\n  b</pre>
    <table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>
    <p>With <img src="/i.png" alt="a picture"> in it</p></body>"""
    blocks = cut_blocks(parse(html.encode()))
    body = build_body(blocks, range(len(blocks.texts)))
    assert body.find("head").get("rend") == "h2"
    assert body.find("p/hi").get("rend") == "#b"
    assert body.find("p/ref").get("target") == "/a"
    assert body.find("p/lb").tail == "New line"
    assert [item.text for item in body.iterfind("list/item")] == ["first", "second"]
    assert body.find("code").text == "a\n  b"
    assert [cell.get("role") for cell in body.iterfind("table/row/cell")] == ["head"] * 2 + [
        None
    ] * 2
    assert body.find("p/graphic").attrib == {"src": "/i.png", "alt": "a picture"}


def test_text_of_every_script_keeps_its_order() -> None:
    html = "<body><p>我们今天去公园</p><p>散步 שלום עולם</p><p>Привет <i>мир</i> ไทย</p></body>"
    blocks = cut_blocks(parse(html.encode()))
    assert text_of(build_body(blocks, range(3))) == "我们今天去公园 散步 שלום עולם Привет мир ไทย"


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("", ""),
        ("<p> </p>", ""),
        ("hello", "hello"),
        ("<div>" * 10_000 + "deep words" + "</div>" * 10_000, "deep words"),
        ("<ul><li>" * 1_000 + "deep words" + "</li></ul>" * 1_000, "deep words"),
        ("<b>" * 2_000 + "deep words", "deep words"),
        ("<table><td>cell</table>", "cell"),
    ],
)
def test_odd_pages_have_their_words_as_content(html: str, words: str) -> None:
    assert text_of(content_of(html).body) == words


def test_a_page_of_very_many_links_in_one_place_takes_no_time_squared() -> None:
    content = content_of("<p>" + '<a href="/x">word</a> ' * 100_000 + "</p>")
    assert text_of(content.body).count("word") == 100_000


_TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="<>&\x00", exclude_categories=["C"])
)
_NODES = st.recursive(
    _TEXT,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from("p div ul li a b table tr td h2 blockquote pre span section br".split()),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


class TestContentProperties:
    @given(_NODES)
    def test_words_of_content_are_words_of_the_page_in_their_order(self, html: str) -> None:
        root = parse(html.encode())
        page = iter(re.findall(r"\S", "".join(root.itertext())))
        found = re.findall(r"\S", "".join(content_of(html).body.itertext()))
        assert all(one in page for one in found)

    @given(_NODES)
    def test_a_page_with_words_has_content(self, html: str) -> None:
        shown = "".join(parse(html.encode()).itertext()).strip()
        assert bool(text_of(content_of(html).body)) == bool(shown)
