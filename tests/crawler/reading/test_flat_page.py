"""Tests of pages as flat lists of tags and texts: they say what a walk through the tree says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.flat_page import attributes_of, flatten
from crawler.reading.html_parsing import parse

Element = Any  # lxml has no types

PIECES = [
    *("<p>", "</p>", "<div class='a b'>", "</div>", "<br>", "<a href='/x?a=1&amp;b=<2>'>", "</a>"),
    *(
        "<b>",
        "</b>",
        "<ul><li>",
        "</ul>",
        "<td =odd='1'>",
        '<i <x="y">',
        "<i a='x class=' class=\"y =z=\" b=''>",
        "<x-y z=&quot;>",
        "<svg:g>",
    ),
    *("text", " ", "\n\t", "a &lt; b &amp;amp; c", "&#1;", "\x01", "é 中", "\r", "<!-- <p> -->"),
    *("<script>if (a < b && c > d) {'</p>'}</script>", "<title>a<b></title>", "<?pi x>", "]]>"),
]


def shown(text: str | None) -> str:
    """Return a text with U+FFFD for what XML cannot hold, as libxml2 writes it."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\ufffd", text or "")


def walked(element: Element) -> list[tuple[str, list[tuple[str, str]], str]]:
    """Return the name, the attributes and the text of each element, and of each end the tail."""
    found = [(element.tag, sorted(element.items()), shown(element.text))]
    for child in element:
        found += [*walked(child), (f"/{child.tag}", [], shown(child.tail))]
    return found


def flattened(root: Element) -> list[tuple[str, list[tuple[str, str]], str]]:
    page, found = flatten(root), list[tuple[str, list[tuple[str, str]], str]]()
    for written, text in zip(page.tags, page.texts, strict=True):
        name, is_empty = written.partition(" ")[0].strip("/"), written[-1] == "/"
        if written[0] != "/":
            said = sorted(attributes_of(written).items())
            found.append((name, said, "" if is_empty else text))
        if is_empty or written[0] == "/":
            found.append((f"/{name}", [], text))
    assert found.pop() == (f"/{root.tag}", [], "")
    return found


class TestFlatPageProperties:
    @given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
    def test_it_says_what_a_walk_through_the_tree_says(self, body: str) -> None:
        root = parse(body.encode())
        assert flattened(root) == walked(root)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
        "<!DOCTYPE html>",
        "",
    ],
)
def test_no_attribute_is_added_for_the_doctype(doctype: str) -> None:
    root = parse(f"{doctype}<html lang=en><head></head><a name=x>y</a></html>".encode())
    assert flattened(root) == walked(root)
    assert [tag for tag in flatten(root).tags if tag[0] == "a"] == ['a name="x"']
