from __future__ import annotations

import pytest

from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible


def text_of(body: bytes) -> str:
    return " ".join("".join(parse(body).itertext()).split())


def hrefs(body: bytes) -> list[str]:
    return [str(href) for href in parse(body).xpath("//a/@href")]


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"<!-- nothing -->", b"<!DOCTYPE html>", b"<?php x ?>", b"</p>"]
)
def test_pages_of_nothing_are_an_empty_root(body: bytes) -> None:
    root = parse(body)
    assert root.tag == "html"
    assert text_of(body) == ""


@pytest.mark.parametrize(
    ("tag", "depth"),
    [
        *((tag, 10_000) for tag in "div b span font ul li dl dd table blockquote h2 x-y".split()),
        ("div", 100_000),
        ("b", 100_000),
    ],
)
def test_nothing_is_lost_however_deep_a_page_is_nested(tag: str, depth: int) -> None:
    deep = f"<{tag}>" * depth + '<a href="/deep">deep</a>' + f"</{tag}>" * depth
    body = f"<title>t</title><p>before</p>{deep}<p>after<a href='/after'>x</a></p>".encode()
    assert text_of(body).replace(" ", "") == "tbeforedeepafterx"
    assert hrefs(body) == ["/deep", "/after"]


def test_elements_left_open_are_no_end_of_the_page() -> None:
    body = b"<font><b><i>word " * 5000 + b"<p>end<a href=/end>x</a>"
    assert text_of(body).endswith("word endx") or text_of(body).endswith("word end x")
    assert hrefs(body) == ["/end"]


def test_links_nested_in_each_other_are_kept() -> None:
    body = b"".join(b"<div><a href=/%d>" % number for number in range(3000))
    assert len(hrefs(body)) == 3000


@pytest.mark.parametrize(
    "body",
    [
        b"<html lang='en' /><body><p>kept</p></body>",
        b"<!DOCTYPE html>\n<HTML />\n<p>kept</p>",
        b"<html><body><p>first</p></body></html>kept",
        b"<html><head></head></html><body><p>kept</p></body></html>",
        b"<html><body>x</body></HTML><html><body><p>kept</p></body></html>",
        b"<html><body>x</body></hTmL ><p>kept</p></html>",
        b"<html><body>x</html/><p>kept</p>",
        b'<html><body>x</body></html foo="b"><p>kept</p>',
        b'<html a=">" /><body><p>kept</p>',
        b'<html data-x="a<b" lang=en />x<p>kept</p>',
        b"<!--" + b" " * 5000 + b"--><HTML/><p>kept</p>",
        b"<html><body>x</body><body><p>kept</p></body></html>",
        b"<html><body>x</body></html a='>'><p>kept</p>",
        b'<html><body>x</body></html data-x="1" x-y><p>kept</p>',
        b"<p>x</p><!-- </body></html --><p>kept</p></body></html>",
        b"<p>x<img alt='</html '><p>kept</p>",
        b"<p>x<script>x = '</html ';</script><p>kept</p>",
        b"<title>about </html tags</title><p>kept</p>",
    ],
)
def test_the_page_goes_on_after_its_root_ended(body: bytes) -> None:
    assert "kept" in text_of(body)


OPEN = (
    "<div class=warn>x|<table>x|<iframe src=/in>|<style>|<script>|<title>|<textarea>|<!-- x"
    '|<img src="x>|<noscript>x|<b>x</i>|<p>a < b'
).split("|")


@pytest.mark.parametrize("left_open", OPEN)
@pytest.mark.parametrize("before", ["<body><p>first</p>", "<html><head>", "<!-- <noscript> -->"])
def test_what_is_left_open_within_noscript_ends_there(left_open: str, before: str) -> None:
    body = f"{before}<noscript>{left_open}</NoScript><title>t</title><p>kept <a href=/end>x</a></p>"
    root = parse(body.encode())
    (last,) = root.xpath("//a[@href='/end']")
    assert not list(last.iterancestors("noscript", "iframe"))
    assert read_visible(flatten(root)).text.split()[-2:] == ["kept", "x"]


@pytest.mark.parametrize(
    "body",
    [
        """<a data-x="<noscript><img src='x.jpg'><b>z</noscript>" href="/kept">x</a>""",
        '<div data-x="<script>"></div><noscript><p>a</noscript><a href="/kept">x</a>',
        '<noscript>{}<a href="/kept">x</a></noscript>'.format("<div>" * 3_000),
        '<noscript><p></i><a href="/kept">x</a></b></noscript>',
    ],
    ids="in a value,a script in a value,deep,ends of nothing".split(","),
)
def test_links_beside_and_within_noscript_are_kept(body: str) -> None:
    assert hrefs(f"{body}<p>last <a href=/last>y</a>".encode()) == ["/kept", "/last"]


def test_markup_that_is_closed_within_noscript_is_as_it_was() -> None:
    inner = '<p>no <b>scripts</b><img src="a>b"><br/></p>'
    (holder,) = parse(f"<body><noscript>{inner}</noscript>".encode()).iter("noscript")
    assert [child.tag for child in holder.iterdescendants()] == ["p", "b", "img", "br"]
    scripted = b"<script>x = '<noscript><b></noscript>'</script><noscript><i>x</noscript><p>kept"
    assert parse(scripted).findtext(".//script") == "x = '<noscript><b></noscript>'"


def test_a_declared_shadow_tree_is_shown_and_other_templates_are_not() -> None:
    body = b"<x-app><template shadowrootmode=open><p>kept</p></template></x-app>"
    assert read_visible(flatten(parse(body))).text.split() == ["kept"]
    assert not read_visible(flatten(parse(b"<template><p>none</p></template>"))).text.split()


def test_quotes_in_a_tag_of_a_deep_page_are_no_values() -> None:
    assert text_of(b"<div a'>word " * 2_500).split() == ["word"] * 2_500
    deep = b"<div>" * 2_500
    assert text_of(deep + b'<p class=x title=5">part</p>' * 50).count("part") == 50
    for tag in (b"embed", b"source"):
        assert text_of(deep + b"<%b src=x>" % tag * 2_100 + b"kept") == "kept"
    shown = deep + b"<input type=submit value='Buy 1'><video src=/1.mp4><object data=/o>"
    assert len(read_visible(flatten(parse(shown))).by_attributes.splitlines()) == 3


@pytest.mark.parametrize(
    "piece",
    [
        *("</html ", '</html a="', "<!-- ", "<script>", "<noscript>", "<noscript <", "<iframe>"),
        *("<noscript><b>", "</i>", "<iframe></iframe>", '<a " ="', "<a ='"),
    ],
)
@pytest.mark.parametrize("before", ["<noscript><b></noscript>", "<noscript>" + "<b>" * 3_000])
def test_what_never_ends_is_read_in_linear_time(piece: str, before: str) -> None:
    """It takes seconds at most; to look for each end up to that of the page would take hours."""
    body = f"<p>kept</p>{before}{piece * 200_000}</noscript>"
    assert text_of(body.encode()).startswith("kept")


def test_noframes_hold_links_and_text_not_markup() -> None:
    body = b"<frameset><frame src=a><noframes><p>no <a href=/x>frames</a></p></noframes></frameset>"
    assert text_of(body) == "no frames"
    assert hrefs(body) == ["/x"]


def test_xhtml_is_read_like_html() -> None:
    body = (
        b'<?xml version="1.0" encoding="latin-1"?><html xmlns="http://www.w3.org/1999/xhtml">'
        b"<head><title/></head><body><p>\xc3\xa9<br/>x</p></body></html>"
    )
    assert text_of(body) == "éx"


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [("application/xhtml+xml", "a 2 & 3 <b> c"), ("text/html", " c]]>")],
)
def test_cdata_sections_of_xhtml_are_text(content_type: str, shown: str) -> None:
    head = b"<html><head><script src='x'/><style>/*<![CDATA[*/p{}/*]]>*/</style></head><body>"
    root = parse(head + b"<p><![CDATA[a 2 & 3 <b> c]]></p></body></html>", content_type)
    assert root.findtext("body/p") == shown
    assert root.findtext("head/style") == "/*<![CDATA[*/p{}/*]]>*/"


def test_a_text_of_many_megabytes_is_one_text() -> None:
    assert len(text_of(b"<p>" + b"word " * 2_500_000)) == 5 * 2_500_000 - 1


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"<title>t</title><article><p>kept</p></article>", "kept"),
        (b"<title>t</title><main>a <p>b</p></main> c", "a b c"),
        (b"<head><x-menu>a</x-menu><meta name=x></head><body>b<p>c</p></body>", "abc"),
        (b"<title>t</title><section>a </section><body class=x><p>b</p></body>", "a b"),
        (b"<title>t</title><svg><title>s</title></svg>", "s"),
    ],
)
def test_what_is_no_part_of_a_head_begins_the_body(body: bytes, shown: str) -> None:
    root = parse(body)
    assert [child.tag for child in root] == ["head", "body"]
    assert " ".join("".join(root.find("body").itertext()).split()) == shown
    assert {child.tag for child in root.find("head")} <= {"title", "meta"}


def test_many_elements_left_in_a_head_keep_their_order() -> None:
    numbers = [str(number) for number in range(60_000)]
    body = "<title>t</title>" + "".join(f"<article>{number}</article>" for number in numbers)
    assert [one.text for one in parse(body.encode()).find("body")] == numbers


@pytest.mark.parametrize("rest", [b"<a ", b"<a", b"<a '", b'<a x="'])
def test_tags_that_never_end_in_a_deep_page_take_no_time(rest: bytes) -> None:
    """Each of them would be looked through to the end of the page."""
    body = b"<div>" * 2_100 + b"<p>kept</p>" + rest * 100_000
    assert "kept" in text_of(body)


def test_pages_that_differ_in_a_formula_of_a_script_differ_in_what_is_visible() -> None:
    said = '<p>The area is</p><script type="math/tex; mode=display">x^{}</script>'
    first, second = (read_visible(flatten(parse(said.format(at).encode()))) for at in "23")
    assert first.text != second.text
