"""The content that users are shown is stored as XML, whatever a page holds."""

from __future__ import annotations

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from crawler.reading.content.content_xml import (
    MAX_DEPTH,
    ContentError,
    content_of_lines,
    pack_content,
    unpack_content,
)


def words_of(body: etree._Element) -> list[str]:
    return " ".join(body.itertext()).split()


def depth_of(body: etree._Element) -> int:
    return max(sum(1 for _ in element.iterancestors()) for element in body.iter())


def test_a_tree_comes_back_as_it_was() -> None:
    body = etree.fromstring(
        '<body><head rend="h1">Caf\u00e9</head><p>One <hi rend="#b">bold</hi> word</p>'
        '<list rend="ul"><item>\u6587</item></list><code>a\n  b</code></body>'
    )
    assert etree.tostring(unpack_content(pack_content(body))) == etree.tostring(body)


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 2_000])
def test_deep_trees_keep_their_words(depth: int) -> None:
    body = place = etree.Element("body")
    for number in range(depth):
        place = etree.SubElement(place, "quote")
        place.text, place.tail = f"in{number}", f"behind{number}"
    expected = sorted(words_of(body))
    found = unpack_content(pack_content(body))
    assert sorted(words_of(found)) == expected
    assert depth_of(found) <= MAX_DEPTH


@given(st.text(st.characters(codec="utf-8")))
def test_characters_that_xml_cannot_hold_are_left_out_of_pages(text: str) -> None:
    tree = html.fromstring(f"<p>first{text.replace('<', '')}last &#1; &#xFFFE;</p>")
    body = etree.Element("body")
    body.append(tree)
    assert "".join(unpack_content(pack_content(body)).itertext()).startswith("first")


class TestContentOfLinesProperties:
    @given(st.text())
    def test_every_text_becomes_paragraphs_in_its_order(self, text: str) -> None:
        content = content_of_lines(text)
        body = unpack_content(content.xml_zstd)
        assert (body.tag, content.source) == ("body", "lines")
        assert all(child.tag == "p" and child.text for child in body)

    @given(st.lists(st.from_regex(r"[a-z<&>\]\"]{1,9}( [a-z]{1,5})?", fullmatch=True)))
    def test_lines_stay_as_they_are(self, lines: list[str]) -> None:
        body = unpack_content(content_of_lines("\n".join(lines)).xml_zstd)
        assert [child.text for child in body] == lines


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"no zstd",
        zstandard.compress(b""),
        zstandard.compress(b"plain words"),
        zstandard.compress(b"<body><p>not closed</body>"),
        zstandard.compress(b"<html/>"),
        zstandard.compress(b"\xff\xfe"),
        zstandard.compress(b"<body>" + b"<p>" * 10_000 + b"</p>" * 10_000 + b"</body>")[:20],
    ],
)
def test_what_is_no_content_is_refused(packed: bytes) -> None:
    with pytest.raises(ContentError):
        unpack_content(packed)


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE body [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><body>&b;</body>'
    try:
        body = unpack_content(zstandard.compress(bomb.encode()))
    except ContentError:
        return
    assert "aaa" not in "".join(body.itertext())
