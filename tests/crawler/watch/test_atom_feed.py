"""Atom feeds as RFC 4287 has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from crawler.watch.delivery import MAX_ENTRIES, make_feed, write_feed
from crawler.watch.watch_store import PageChange

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = {"a": "http://www.w3.org/2005/Atom"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def change(number: int, **fields: str) -> PageChange:
    given: dict[str, Any] = {
        "id": f"urn:uuid:00000000-0000-4000-8000-{number:012d}",
        "directory": "/crawl",
        "url": f"http://example.org/{number}",
        "kind": "changed",
        "when": "2026-11-28T10:00:00.000+00:00",
        "title": f"Page {number}",
        "summary": "a paragraph of 2 words was added",
    }
    return PageChange(**{**given, **fields}, added=("Two <words>",), removed=("One & all",))


def parsed(feed: bytes) -> ET.Element:
    root = ET.fromstring(feed)
    for element in (root, *root.iterfind("a:entry", _NAMES)):
        for name in ("id", "title", "updated"):
            (found,) = element.findall(f"a:{name}", _NAMES)
            assert found.text
        assert _MOMENT.fullmatch(element.findtext("a:updated", "", _NAMES))
    assert root.findtext("a:author/a:name", "", _NAMES)
    return root


def test_an_entry_has_the_change() -> None:
    (entry,) = parsed(make_feed("file:///a.xml", [change(1)], 0.0)).findall("a:entry", _NAMES)
    assert entry.findtext("a:id", "", _NAMES) == change(1).id
    assert entry.findtext("a:title", "", _NAMES) == "Page 1: changed"
    assert entry.findtext("a:summary", "", _NAMES) == change(1).summary
    (link,) = entry.findall("a:link", _NAMES)
    assert link.attrib == {"rel": "alternate", "href": "http://example.org/1"}
    content = entry.findtext("a:content", "", _NAMES)
    assert "<ins>Two &lt;words&gt;</ins>" in content
    assert "<del>One &amp; all</del>" in content


@pytest.mark.parametrize("text", ["a\x00b\x1b[1m", "\ud800", "]]>", "<script>", "\ufffe 港"])
def test_no_text_of_a_site_breaks_the_feed(text: str) -> None:
    odd = change(
        1, title=f"x{text}", summary=f"x{text}", url=f"http://a/{text.strip(chr(55296))}é b"
    )
    root = parsed(make_feed("file:///a.xml", [odd], 0.0))
    (link,) = root.findall("a:entry/a:link", _NAMES)
    assert re.fullmatch(r"http://a/[!-~]*%C3%A9%20b", link.attrib["href"])


def test_a_feed_is_replaced_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    write_feed(path, [], 0.0)
    empty = parsed(path.read_bytes())
    assert not empty.findall("a:entry", _NAMES)
    write_feed(path, [change(number) for number in range(MAX_ENTRIES + 20, 0, -1)], 0.0)
    full = parsed(path.read_bytes())
    titles = [entry.findtext("a:title", "", _NAMES) for entry in full.findall("a:entry", _NAMES)]
    assert len(titles) == MAX_ENTRIES
    assert titles[0] == f"Page {MAX_ENTRIES + 20}: changed"
    assert full.findtext("a:id", "", _NAMES) == empty.findtext("a:id", "", _NAMES)
    assert [file.name for file in tmp_path.iterdir()] == ["feed.xml"]
