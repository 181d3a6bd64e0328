"""Tests of the one scan against a scan for each kind of element."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from crawler.reading.flat_page import MAX_LINK_TEXT
from crawler.reading.html_parsing import parse
from crawler.reading.page_elements import collect

_TAGS = (
    "<p>",
    "</p>",
    "<a href=a>",
    "<a href=b rel='x NoFollow'>",
    "<a href='' xlink:href=c>",
    "<a xlink:href=a>",
    "</a>",
    "<map><area href=d><area href=e rel=nofollow></map>",
    "<iframe src=f></iframe>",
    "<frame src=g>",
    "<base target=x>",
    "<base href=h>",
    "<base href=i>",
    "<main id=1>",
    "<main id=2>",
    "</main>",
    "<link rel=next href=j>",
    "<link rel='Alternate Stylesheet' href=k>",
    "<link rel=alternate type='text/html; x' href=l>",
    "<link rel=alternate type=application/rss+xml href=m>",
    "<link rel=prev>",
    "<link rel=up href=''>",
    "<title>t</title>",
    "<svg><title>s</title></svg>",
    "<script type=application/LD+json>{}</script>",
    "<script>a</script>",
)


class TestCollectProperties:
    @given(st.lists(st.sampled_from(_TAGS), max_size=20).map("".join))
    def test_collect_finds_what_scans_for_each_kind_find(self, body: str) -> None:
        root = parse(body.encode())
        found = collect(root)
        assert list(found.followed) == _distinct(_references(root, is_nofollow=False))
        assert list(found.not_followed) == _distinct(_references(root, is_nofollow=True))
        assert found.base == next(iter(root.xpath("//base/@href")), None)
        assert found.content is next(root.iter("main"), root)
        assert found.title == next(iter(root.xpath("//title[not(ancestor::svg)]/text()")), None)
        assert found.json_ld == ["{}"] * body.count("LD+json")
        related = [frame.get("src") for frame in root.iter("frame", "iframe")]
        related += root.xpath("//link[@rel][@href]/@href")
        assert set(found.related) == set(related)

    @given(st.lists(st.sampled_from(_TAGS), max_size=20).map("".join))
    def test_collect_changes_no_page(self, body: str) -> None:
        root = parse(body.encode())
        before = etree.tostring(root)
        collect(root)
        assert etree.tostring(root) == before


def _references(root: etree._Element, *, is_nofollow: bool) -> list[str]:
    found = []
    for element in root.iter("a", "area"):
        address = element.get("href")
        if address is not None and is_nofollow == ("nofollow" in element.get("rel", "").lower()):
            found.append(address)
        if element.tag == "a" and not is_nofollow and element.get("xlink:href") is not None:
            found.append(element.get("xlink:href"))
    return found


def _distinct(addresses: list[str]) -> list[str]:
    return list(dict.fromkeys(addresses))


def _text_of(anchor: str) -> str:
    """Return the text of the only link of a page."""
    (text,) = collect(parse(f"<p>{anchor}</p>".encode())).followed.values()
    return text


@pytest.mark.parametrize(
    ("anchor", "text"),
    [
        ("<a href=x>Read more</a>", "Read more"),
        ("<a href=x>\n  Read\n\t more\xa0 </a>", "Read more"),
        ("<a href=x>The <b>second</b> <i>part</i>: it</a>", "The second part: it"),
        ("<a href=x><img src=i alt='Our logo'></a>", "Our logo"),
        ("<a href=x><svg><path d=M0></svg></a>", ""),
        ("<a href=x></a>", ""),
        ("<map><area href=x alt='The harbour'></map>", "The harbour"),
        ("<a href=x>word <!-- no word -->again</a>", "word again"),
        ("<a href=x><b>One <i>two</i> three</b> four</a>", "One two three four"),
        ("<a href=x>One<style>a{}</style> two<script>var x</script></a>", "One two"),
        ("<a href=x></a><a href=x>Here</a><a href=x>There</a>", "Here"),
        (f"<a href=x>{'long ' * 100}</a>", ("long " * 20).strip()),
    ],
)
def test_a_link_has_the_text_that_it_shows(anchor: str, text: str) -> None:
    assert _text_of(anchor) == text


def test_of_a_link_around_half_a_page_the_beginning_is_read() -> None:
    found = _text_of(f"<a href=x>Lead {'<p>part</p> and ' * 10_000}</a>")
    assert found.startswith("Lead part and part and part")
    assert len(found) <= MAX_LINK_TEXT
