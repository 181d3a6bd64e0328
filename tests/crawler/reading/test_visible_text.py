"""The visible text of a page is what a plain walk over its tree finds."""

from __future__ import annotations

import time
from copy import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml.etree import XPath, strip_elements

from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.text import BLOCKS, Visible, tidy
from crawler.reading.visible_text import read_visible

TEXT = XPath("string()", smart_strings=False)
HIDDEN = ("head", "script", "style", "noscript", "template")
CONTROLS = ("button", "select", "label")
NAMES = (
    *HIDDEN, *CONTROLS, "a", "nav", "p", "div", "br", "b", "span", "form", "img", "input", "option",
    "table", "tr", "td", "ul", "li", "iframe", "frameset", "frame", "noframes", "svg", "ruby", "rt",
    "textarea", "title", "body", "html", "a<b", "o:p", "xmp", "plaintext", 'q"q',
)  # fmt: skip
ATTRIBUTES = ("", " class=x", ' title="a<b>c&quot;"', " =y", ' a"b', " src='x y'", " /")

WORDS = (
    "one", " two", "\n", "three ", "\xa0", "\u3000x", "&lt;p&gt;", "&amp;lt;", "&#13;y", "]]>",
    "\u6f22",
)  # fmt: skip

starts = st.builds("<{}{}>".format, st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES))
ends = st.builds("</{}>".format, st.sampled_from(NAMES))
bodies = st.lists(starts | ends | st.sampled_from(WORDS), max_size=30).map("".join)


def read(body: str) -> Visible:
    return read_visible(flatten(parse(body.encode())))


def read_plainly(root: Any) -> Visible:
    """Return the texts of a page, read from copies of its tree."""
    shown = copy(root)
    strip_elements(shown, *HIDDEN, with_tail=False)
    for element in shown.iter(*BLOCKS):
        if not (element.text or "")[:1].isspace():
            element.text = "\n" + (element.text or "")
        if not (element.tail or "")[:1].isspace():
            element.tail = "\n" + (element.tail or "")
    frames = root.xpath("//frame/@src")
    text = "\n".join([TEXT(shown), *frames])
    strip_elements(shown, "a", "nav", with_tail=False)
    outer = [
        one for one in shown.iter(*CONTROLS) if next(one.iterancestors(*CONTROLS), None) is None
    ]
    controls = "\n".join(map(TEXT, outer))
    strip_elements(shown, *CONTROLS, with_tail=False)
    return Visible(text, TEXT(shown), bool(frames), controls)


@given(bodies)
@example("x<p><script></script> y")
@example("x<p>\n<script></script> y<script></script> z")
@example("x<nav></nav> y<button></button> z<label> <button></button> a</label>")
@example("<a><button>x</button></a><label>y<a>z</a></label>")
@example("<noframes>&lt;b</noframes><frame src=x><noscript><frame src=y></noscript>")
def test_the_texts_are_those_of_the_tree(body: str) -> None:
    root = parse(body.encode())
    found, plain = read_visible(flatten(root)), read_plainly(root)
    assert found.is_frameset == plain.is_frameset
    for name in ("text", "unlinked", "controls"):
        assert tidy(getattr(found, name)) == tidy(getattr(plain, name)), name


def shown(body: str) -> str:
    return " ".join(read(body).text.split())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<title>no</title><p>yes</p>", "yes"),
        ("<p>yes</p><script>no</script><style>no</style>", "yes"),
        ("<noscript>no</noscript><template>no</template>yes", "yes"),
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br>two<hr>three", "one two three"),
        ("<table><tr><td>one</td><td>two</td></tr></table>", "one two"),
        ("<ul><li>one<li>two</ul>", "one two"),
        ("wo<b>r</b>d and f<i>oo</i>", "word and foo"),
        ("before<div>within</div>after", "before within after"),
        ("<select><option>one<option>two</select>", "one two"),
        ("&auml;&nbsp;&lt;x&gt;", "ä <x>"),
        ("<body>one</body><body>two</body>", "one two"),
        ("<!-- no -->", ""),
        ("", ""),
    ],
)
def test_what_is_shown(body: str, text: str) -> None:
    assert shown(body) == text


def test_framesets_differ_by_their_frames() -> None:
    one = shown("<frameset><frame src=a.html><noframes>Sorry</noframes></frameset>")
    other = shown("<frameset><frame src=b.html><noframes>Sorry</noframes></frameset>")
    assert one == "Sorry a.html"
    assert one != other


def test_links_and_controls_are_apart() -> None:
    visible = read(
        "<nav>n</nav><p>text <a href=x>link</a> tail</p><button>b</button><label>l</label>"
    )
    assert visible.text.split() == ["n", "text", "link", "tail", "b", "l"]
    assert visible.unlinked.split() == ["text", "tail"]
    assert visible.controls.split() == ["b", "l"]


def test_the_page_is_not_changed() -> None:
    page = flatten(parse(b"<head><title>t</title></head><body><p>a</p><a href=x>b</a></body>"))
    before = page.tags.copy(), page.texts.copy()
    read_visible(page)
    assert (page.tags, page.texts) == before


@pytest.mark.parametrize(
    "piece",
    [
        "<script></script>x",
        "<a href=x>y</a>",
        "<button>x</button>",
        "<form><img src=/a?1><input></form>",
        "<p>x",
        "<b>x</b> ",
        "<div><form><label>",
    ],
)
def test_a_page_is_read_in_linear_time(piece: str) -> None:
    page = flatten(parse((piece * 100_000).encode()))
    started = time.process_time()
    read_visible(page)
    assert time.process_time() - started < 10


def test_controls_within_each_other_are_read_once() -> None:
    assert read("<label>" * 1000 + "word " * 1000).controls.count("word") == 1000
    assert read("<label>Size <select><option>S<option>M</select></label>").controls.split() == [
        *("Size", "S", "M")
    ]
