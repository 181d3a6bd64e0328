"""The main content of pages: what is taken, what is left, and that bad pages do no harm."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import fromstring, tostring

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.blocks import MAX_BLOCKS, cut_blocks
from crawler.reading.content.content_body import build_body
from crawler.reading.content.content_shapes import layout_containers
from crawler.reading.content.content_xml import PAGE_TYPES
from crawler.reading.content.main_content import (
    MainContent,
    is_doubtful_article,
    pruned,
    read_article,
    read_by_trafilatura,
    read_content,
)
from crawler.reading.content.page_features import PAGE_NAMES, read_page_kinds
from crawler.reading.flat_page import flatten
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


def content_of(html: str) -> MainContent:
    root = parse(html.encode())
    return read_content(root, flatten(root))


def text_of(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_content_leaves_menus_and_footers_out() -> None:
    content = content_of(ARTICLE)
    text = text_of(fromstring(content.xml))
    assert text.count("Pilots wait at the outer buoy.") == 18
    assert "Shop" not in text
    assert "All rights reserved" not in text
    assert content.kind in PAGE_TYPES


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("<p>tiny</p>", None),
        ("<title>A</title><h1>Hello</h1><p>A short text of a page.</p>", None),
        ('<meta property="og:type" content="article"><h1>Hello</h1><p>Short.</p>', "article"),
    ],
)
def test_a_short_page_has_the_type_that_it_declares(said: str, kind: str | None) -> None:
    assert content_of(said).kind == kind


def test_reading_content_leaves_the_tree_as_it_was() -> None:
    root = parse(ARTICLE.encode())
    before = text_of(root)
    read_content(root, flatten(root))
    assert text_of(root) == before


ODD_CONTAINERS = """<html><head><noscript><p>in head</p></noscript></head><body>
<nav><ul><li>Home</li><li>Shop</li></ul></nav>
<main><figure><img src="/a.png"></figure><p>One <b>bold</b> text.</p>behind it
<svg><p>drawn</p></svg><textarea><p>typed</p></textarea><div><p>unlikely</p></div></main>
<aside><img src="/b.png"></aside><footer><p>Legal</p></footer></body></html>"""


def test_an_article_is_pruned_of_containers_without_likely_blocks() -> None:
    root = parse(ODD_CONTAINERS.encode())
    blocks = cut_blocks(flatten(root))
    odds = np.array([0.9 if text[:2] in ("On", "be") else 0.1 for text in blocks.texts], np.float32)
    before = text_of(root)
    found = pruned(root, blocks, odds)
    assert text_of(found) == "One bold text. behind it"
    assert [image.get("src") for image in found.iter("img")] == ["/a.png"]
    assert text_of(root) == before


def test_an_article_is_read_from_what_is_likely_content_alone() -> None:
    root = parse(ARTICLE.encode())
    blocks = cut_blocks(flatten(root))
    likely = np.array([len(text) > 50 for text in blocks.texts], np.float32)
    likely[[text.startswith("Part 2.") for text in blocks.texts].index(True)] = 0
    article = read_article(root, blocks, likely)
    assert article is not None
    assert re.findall(r"Part \d", text_of(article)) == [f"Part {at}" for at in (0, 1, 3, 4, 5)]


@pytest.mark.parametrize(
    ("kind", "declared", "odds", "is_worth_it"),
    [
        ("article", "", 0.7, True),
        ("article", "", 0.99, False),
        ("listing", "", 0.7, False),
        ("listing", "og_article", 0.7, False),
        ("listing", "og_article ld_article", 0.7, True),
    ],
)
def test_trafilatura_is_asked_where_the_choice_of_an_article_is_in_doubt(
    kind: str, declared: str, odds: float, is_worth_it: bool
) -> None:
    types = np.array([one == kind for one in PAGE_TYPES], np.float32)
    page = np.array([name in declared.split() for name in PAGE_NAMES], np.float32)
    each = np.array([odds, odds, 0.1], np.float32)
    chosen = np.array([True, True, False])
    assert is_doubtful_article(types, page, chosen, each, np.ones(3)) == is_worth_it


def test_posts_that_only_noscript_has_are_content() -> None:
    posts = "".join(f"<div class=post><p>Post {at}. {PROSE}</p></div>" for at in range(5))
    content = content_of(
        f"<html><body><div id=app></div><noscript>{posts}</noscript></body></html>"
    )
    assert text_of(fromstring(content.xml)).count("Pilots wait") == 5


def test_body_keeps_lists_tables_code_links_and_images() -> None:
    html = """<body><h2>Title</h2><p>One <b>bold</b> <a href="/a">link</a>.<br>New line</p>
    <ul><li>first</li><li>second</li></ul><pre>a\n  b</pre>
    <table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>
    <p>With <img src="/i.png" alt="a picture"> in it</p></body>"""
    blocks = cut_blocks(flatten(parse(html.encode())))
    body = fromstring(build_body(blocks, range(len(blocks.texts))))
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
    blocks = cut_blocks(flatten(parse(html.encode())))
    body = fromstring(build_body(blocks, range(3)))
    assert text_of(body) == "我们今天去公园 散步 שלום עולם Привет мир ไทย"


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
    assert text_of(fromstring(content_of(html).xml)) == words


def test_a_page_of_very_many_links_in_one_place_takes_no_time_squared() -> None:
    content = content_of("<p>" + '<a href="/x">word</a> ' * 100_000 + "</p>")
    assert text_of(fromstring(content.xml)).count("word") == 100_000


def body_of(html: str) -> Any:
    blocks = cut_blocks(flatten(parse(html.encode())))
    return fromstring(build_body(blocks, range(len(blocks.texts))))


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<pre>int a;<br>int b;<br/>int c;</pre>", "int a;\nint b;\nint c;"),
        ("<pre>\n<b>if</b> x:\n    y<br>    z\n</pre>", "if x:\n    y\n    z"),
        ("<pre><div>first</div><div>  second</div><p>third</pre>", "first\n  second\nthird"),
    ],
)
def test_code_keeps_its_lines(html: str, code: str) -> None:
    assert [one.text for one in body_of(html).iter("code")] == [code]


def test_lists_within_code_stand_behind_its_lines() -> None:
    code = body_of("<pre class=language-c>a<span><li>x</li></span>c</pre>").find("code")
    assert (code.get("lang"), code.text) == ("c", "a\nc")
    assert code.findtext("list/item") == "x"


def test_content_is_written_as_xml_whatever_stands_in_it() -> None:
    body = body_of(
        """<p>a &lt;b&gt; &amp; <a href='/?a=1&amp;b="2"&#9;'>c</a></p><pre>d&#13;e</pre>"""
    )
    assert body.findtext("p") == "a <b> & "
    assert body.find("p/ref").get("target") == '/?a=1&b="2"'
    assert body.findtext("code") in {"d\re", "d\ne"}


def test_elements_without_text_leave_no_trace_but_their_spaces() -> None:
    body = body_of("<p>one <b></b><i><u></u></i><a href=/x> </a>two<br><code></code></p>")
    assert tostring(body.find("p")) == b"<p>one two<lb/></p>"


@pytest.mark.parametrize(
    ("html", "rows"),
    [
        ("<tr><th>A<th><th>C<tr><th>r<td><td>1", [["A", "", "C"], ["r", "", "1"]]),
        ("<tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e", [["a", "", "b"], ["c", "d", "e"]]),
        ("<tr><td colspan=99999999>a<td>b", [["a", *[""] * 49, "b"]]),
    ],
)
def test_cells_stay_below_their_heads(html: str, rows: list[list[str]]) -> None:
    body = body_of(f"<table><caption>Said</caption>{html}</table>")
    assert [text_of(one) for one in body.iter("p")] == ["Said"]
    assert [[text_of(cell) for cell in row] for row in body.iter("row")] == rows


def test_empty_cells_are_added_within_bounds() -> None:
    rows = "<tr><td colspan=50>a<td>b</tr>" * 3000
    cells = list(body_of(f"<table>{rows}</table>").iter("cell"))
    assert sum(cell.text is None for cell in cells) == 10_000
    assert sum(cell.text is not None for cell in cells) == 6000


def test_items_have_the_numbers_that_the_page_shows() -> None:
    root = parse(b"<ol start=3><li>a<li>left out<li>b<li value=9>c<ol><li>d</ol></ol>")
    blocks = cut_blocks(flatten(root))
    chosen = [at for at, text in enumerate(blocks.texts) if text != "left out"]
    items = fromstring(build_body(blocks, chosen)).iter("item")
    assert [(one.get("n"), one.text) for one in items] == [
        ("3", "a"),
        ("5", "b"),
        ("9", "c"),
        ("1", "d"),
    ]


def test_terms_and_definitions_are_told_apart() -> None:
    items = body_of("<dl><dt>a<dd>b<dd>c<dt>d</dl>").iter("item")
    assert [(one.get("rend"), one.text) for one in items] == [
        ("dt", "a"),
        ("dd", "b"),
        ("dd", "c"),
        ("dt", "d"),
    ]


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<ruby>漢字<rt>かんじ</rt></ruby>。", "漢字（かんじ）。"),
        ("<ruby>漢<rt>かん</rt>字<rt>じ</ruby>。", "漢（かん）字（じ）。"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>。", "漢字(かんじ)。"),
        ("<ruby>漢<rt></rt>字<rt>じ</rt></ruby>", "漢字（じ）"),
        ("漢字\u3000かんじ", "漢字 かんじ"),
    ],
)
def test_the_reading_of_characters_is_in_brackets(html: str, shown: str) -> None:
    assert text_of(body_of(f"<p>{html}</p>")) == shown


def test_each_piece_of_code_has_its_own_lines() -> None:
    body = body_of("<pre><div>a</div><div>b</div></pre><p>between</p><pre>c<br>d</pre>")
    assert [(one.tag, one.text) for one in body] == [
        ("code", "a\nb"),
        ("p", "between"),
        ("code", "c\nd"),
    ]


# Each of these took minutes where time grew with the square of the size.
def test_code_of_very_many_lines_is_joined_once() -> None:
    line = "x" * 500
    body = body_of("<pre>" + f"<div>{line}</div>" * 19_000 + "</pre>")
    assert body.find("code").text == "\n".join([line] * 19_000)


def test_text_of_very_many_elements_that_leave_no_trace_is_joined_once() -> None:
    body = body_of("<p>" + "<span>word</span> " * 200_000 + "<b>bold</b> <i>x</i></p>")
    assert body.find("p").text.count("word") == 200_000
    assert body.find("p/hi").tail == " "


def test_types_of_data_about_a_page_are_found_whatever_space_is_between() -> None:
    blank = '"@type":' + " " * 190_000
    data = [blank, f'{blank}"Product"', '"@type" : [ "Article", "X"]', '"@type":["FAQPage"]']
    scripts = "".join(f'<script type="application/ld+json">{one}</script>' for one in data)
    root = parse((scripts + scripts).encode())
    found = read_page_kinds(root, flatten(root), root.iter("meta", "script"))
    assert {name for name, value in found.items() if value} == {
        "ld_product",
        "ld_article",
        "ld_faq",
    }


def test_only_the_start_of_a_title_is_searched_for_the_text_of_blocks() -> None:
    def features_of(title: str) -> PageFeatures:
        root = parse(f"<title>{title}</title><p>the lamps of brass<p>at the far end".encode())
        return PageFeatures(cut_blocks(flatten(root)), root)

    start = "The lamps of brass. " + "x" * 979
    cut, whole = features_of(start), features_of(f"{start} at the far end" + " word" * 100_000)
    assert (whole.blocks == cut.blocks).all()
    assert (whole.page == cut.page).all()
    assert (features_of("x").blocks != cut.blocks).any()


def test_content_says_that_the_end_of_a_page_was_not_looked_at() -> None:
    assert not content_of("<p>word</p>" * (MAX_BLOCKS - 1)).is_cut
    assert content_of("<p>word</p>" * (MAX_BLOCKS + 1)).is_cut


class CountedList(list[int]):
    """Counts how often an item is looked up."""

    lookups = 0

    def __getitem__(self, at: Any) -> Any:
        self.lookups += 1
        return super().__getitem__(at)


@pytest.mark.parametrize("heading", ["h1", "h2"])
def test_headings_below_many_containers_are_climbed_from_once(heading: str) -> None:
    html = "<div>" * 200 + f"<{heading}>x</{heading}>" * 5_000
    blocks = cut_blocks(flatten(parse(html.encode())))
    assert len(blocks.sizes) == len(blocks.parents)  # counted by a compiled loop, over plain lists
    blocks.parents = CountedList(blocks.parents)
    layout_containers(blocks)
    assert 0 < blocks.parents.lookups < 5 * len(blocks.parents)


def test_open_elements_go_on_in_a_bounded_number_of_pieces() -> None:
    blocks = cut_blocks(flatten(parse(("<b>" * 2_000 + "<div>x</div>" * 5_000).encode())))
    assert len(blocks.texts) == 5_000
    assert sum(map(len, map(blocks.pieces, blocks.spans))) < 50 * 5_000


@pytest.mark.parametrize("depth", [1, 3, 16, 17, 40])
def test_a_link_around_blocks_goes_on_in_each_however_deep_it_is(depth: int) -> None:
    wrapped = "<x-y>" * depth + "<a href=/x><div>one</div><div>two</div></a>" + "</x-y>" * depth
    body = body_of(f"<section>{wrapped} <a href=/z>z</a> <div>three</div></section>")
    assert [(one.get("target"), one.text) for one in body.iter("ref")] == [
        ("/x", "one"),
        ("/x", "two"),
        ("/z", "z"),
    ]
    assert text_of(body) == "one two z three"


def test_what_is_open_in_a_block_is_closed_in_it() -> None:
    html = "<b>" * 30 + "<div>x</div>" + "</b>" * 29 + "<i>y</i> z<div>w</div></b> <u>v</u><p>q"
    blocks = cut_blocks(flatten(parse(html.encode())))
    for pieces in map(blocks.pieces, blocks.spans):
        opened = sum(piece is not None and not isinstance(piece, str) for piece in pieces)
        assert opened == pieces.count(None)
    body = fromstring(build_body(blocks, range(len(blocks.texts))))
    assert text_of(body) == "x y z w v q"


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
        found = re.findall(r"\S", "".join(fromstring(content_of(html).xml).itertext()))
        assert all(one in page for one in found)

    @given(st.lists(st.tuples(st.booleans(), st.text("ab \n\t\xa0\u2028\u3000", max_size=6))))
    def test_words_have_one_space_between_whatever_was_there(
        self, parts: list[tuple[bool, str]]
    ) -> None:
        root = parse("".join(f"<i>{one}</i>" if shaped else one for shaped, one in parts).encode())
        blocks = cut_blocks(flatten(root))
        body = fromstring(build_body(blocks, range(len(blocks.texts))))
        assert "".join(body.itertext()) == " ".join("".join(root.itertext()).split())

    @given(_NODES)
    def test_a_page_with_words_has_content(self, html: str) -> None:
        shown = "".join(parse(html.encode()).itertext()).strip()
        assert bool(text_of(fromstring(content_of(html).xml))) == bool(shown)


def test_elements_with_the_name_of_what_is_pruned_stay() -> None:
    root = parse(f"<p>{'One sentence of an article. ' * 9}<dropped>inner</dropped></p>".encode())
    blocks = cut_blocks(flatten(root))
    assert "inner" in text_of(pruned(root, blocks, np.ones(len(blocks.texts), np.float32)))


@pytest.mark.parametrize(
    "said",
    [
        *(f"<{name}>Monday</{name}>" for name in ("time", "label", "output", "q")),
        "<math><semantics><mi>Monday</mi><annotation>never</annotation></semantics></math>",
    ],
)
def test_no_word_within_a_sentence_is_lost_to_trafilatura(said: str) -> None:
    root = parse(ARTICLE.replace("Part 2.", f"On {said} it began.").encode())
    blocks = cut_blocks(flatten(root))
    article = read_article(root, blocks, np.ones(len(blocks.texts), np.float32))
    assert article is not None
    for found in (text_of(article), " ".join(read_by_trafilatura(root).text.split())):
        assert "On Monday it began." in found.replace('"', "")
        assert "never" not in found
