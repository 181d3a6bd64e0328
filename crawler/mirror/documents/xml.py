"""Find the URLs of XML: drawings, XHTML, feeds of RSS and Atom, and the style sheets of any."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.mirror.documents.attributes import read_attributes, read_value
from crawler.mirror.documents.edits import Edit
from crawler.mirror.documents.places import LinkKind, LinkPlace, write_cdata, write_text
from crawler.mirror.documents.tags import XML_STOP
from crawler.reading.link_kinds import FEED_TYPES

if TYPE_CHECKING:
    from crawler.mirror.documents.attributes import Attribute
    from crawler.mirror.documents.elements import Elements

    Attributes = dict[bytes, Attribute]

_XSLT = frozenset({b"stylesheet", b"transform"})
_INSTRUCTION = 5  # a group of XML_STOP
_FEEDS = frozenset({b"rss", b"feed", b"rdf"})
_HTML_ONLY = frozenset(
    b"a area link base meta img iframe frame form input button body table td th source video audio"
    b" track embed object".split()
)
_TEXT = re.compile(rb"\s*+(?:<!\[CDATA\[\s*+([^\]<>]*+)\]\]>|([^<]*+))")
# Elements of feeds whose text is a URL.
_TEXT_ADDRESSES = {
    b"link": LinkKind.PAGE,
    b"comments": LinkKind.PAGE,
    b"url": LinkKind.REQUISITE,
    b"icon": LinkKind.REQUISITE,
    b"logo": LinkKind.REQUISITE,
}
# Attributes of elements of feeds that are a URL.
_ATTRIBUTES = {
    (b"enclosure", b"url"): LinkKind.PAGE,
    (b"content", b"url"): LinkKind.PAGE,
    (b"content", b"src"): LinkKind.PAGE,
    (b"player", b"url"): LinkKind.PAGE,
    (b"thumbnail", b"url"): LinkKind.REQUISITE,
    (b"image", b"href"): LinkKind.REQUISITE,
    (b"source", b"url"): LinkKind.FEED,
}
# Relations of Atom's links that lead to pages for people.
_READ = frozenset({"", "alternate", "related", "via", "enclosure"})


def read_xml(elements: Elements) -> None:
    """Collect the URLs of an XML document; ``xml:base`` counts on its root alone.

    Complexity: O(length).
    """
    text = elements.places.text
    root = b""
    at = 0
    while (stop := XML_STOP.match(text, at)) is not None:
        at = stop.end()
        if stop.lastindex == _INSTRUCTION:
            _style_sheet(elements, *stop.span(5))
            continue
        name = stop[2].lower().rpartition(b":")[2]
        start, end = stop.span(3)
        if not root:
            root = name
            _read_base(elements, start, end)
        if root in _FEEDS:
            _feed_element(elements, name, (start, end), at)
            continue
        look = elements.html if name in _HTML_ONLY and root == b"html" else elements.foreign
        if name == b"script" and root == b"html":
            look = elements.html
        look(name, start, end)
        if name == b"style" and text[end - 1 : end] != b"/":
            elements.inline_sheet(at)
    if root in _XSLT:
        _leave_templates(elements)


def _leave_templates(elements: Elements) -> None:
    """Leave what is a URL only where the style sheet is applied: ``href="{@url}"``."""
    found = elements.places.found
    found[:] = (place for place in found if "{" not in place.written)


def _read_base(elements: Elements, start: int, end: int) -> None:
    base = read_attributes(elements.places.text, start, end).get(b"xml:base")
    if base is not None:
        elements.base = elements.places.value(base)
        elements.fixes.append(Edit(base.name_start, base.name_end, b"data-base"))


def _style_sheet(elements: Elements, start: int, end: int) -> None:
    href = read_attributes(elements.places.text, start, end).get(b"href")
    if href is not None:
        elements.places.address(href, LinkKind.REQUISITE)


def _feed_element(elements: Elements, name: bytes, span: tuple[int, int], at: int) -> None:
    attributes = read_attributes(elements.places.text, *span)
    if name == b"link" and b"href" in attributes:
        elements.places.address(attributes[b"href"], _kind_of_atom_link(elements, attributes))
        return
    for key, attribute in attributes.items():
        kind = _ATTRIBUTES.get((name, key))
        if kind is not None:
            elements.places.address(attribute, kind)
    if name in _TEXT_ADDRESSES and elements.places.text[span[1] - 1 : span[1]] != b"/":
        _text_address(elements, _TEXT_ADDRESSES[name], at)


def _kind_of_atom_link(elements: Elements, attributes: Attributes) -> LinkKind:
    relation, media_type = (
        elements.places.value(attributes.get(key)).strip().lower() for key in (b"rel", b"type")
    )
    if relation not in _READ:
        return LinkKind.OTHER
    return LinkKind.FEED if media_type in FEED_TYPES else LinkKind.PAGE


def _text_address(elements: Elements, kind: LinkKind, at: int) -> None:
    places = elements.places
    match = _TEXT.match(places.text, at)
    if match is None or match.lastindex is None:
        return
    which = match.lastindex
    raw = match[which].rstrip()
    start = match.start(which)
    value = raw if which == 1 else read_value(raw, places.encoding).text
    written = places.decode(value)
    if written:
        write = write_cdata if which == 1 else write_text
        places.add(LinkPlace(start, start + len(raw), written, kind, False, write))
