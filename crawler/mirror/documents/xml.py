"""Find the URLs of XML: drawings, XHTML, feeds of RSS and Atom, and the style sheets of any.

An element counts by its namespace: ``slash:comments`` is a number, ``comments`` of RSS a URL.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.documents.places import Edit, LinkPlace, LinkRole, write_cdata, write_text
from crawler.mirror.documents.tags import XML_STOP, read_attributes, read_value
from crawler.reading.link_kinds import FEED_TYPES, is_feed_namespace
from crawler.reading.url_joining import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.mirror.documents.elements import Elements
    from crawler.mirror.documents.tags import Attribute

    Attributes = dict[bytes, Attribute]

_XHTML = b"http://www.w3.org/1999/xhtml"
_DRAWN = (b"http://www.w3.org/2000/svg", b"http://www.w3.org/1998/Math/MathML")
_XLINK = b"http://www.w3.org/1999/xlink"
_MEDIA = b"http://search.yahoo.com/mrss"
_ITUNES = b"http://www.itunes.com/dtds/podcast-1.0.dtd"
# What prefixes mean that are not declared; any other one is a namespace of its own.
_USUAL = {b"": b"", b"media": _MEDIA, b"itunes": _ITUNES, b"atom": b"http://www.w3.org/2005/Atom"}
_XSLT = frozenset({b"stylesheet", b"transform"})
_END, _START = 1, 3  # groups of XML_STOP
_FEEDS = frozenset({b"rss", b"feed", b"rdf"})
_ENTRIES = frozenset({b"item", b"entry"})
_HTML_ONLY = frozenset(
    b"a area link base meta img iframe frame form input button body table td th source video audio"
    b" track embed object script".split()
)
_OF_THE_PAGE = frozenset({b"base", b"meta"})
_TEXT = re.compile(rb"\s*+(?:<!\[CDATA\[\s*+([^\]<>]*+)\]\]>|([^<]*+))")
_ABSOLUTE = re.compile(r"https?://[^\s/]", re.IGNORECASE)
# Elements of feeds whose text is a URL, within some others or any.
_TEXT_ADDRESSES: dict[bytes, tuple[LinkRole, tuple[bytes, ...]]] = {
    b"link": (LinkRole.PAGE, ()),
    b"comments": (LinkRole.PAGE, ()),
    b"url": (LinkRole.REQUISITE, (b"image",)),
    b"icon": (LinkRole.REQUISITE, ()),
    b"logo": (LinkRole.REQUISITE, ()),
    b"guid": (LinkRole.PAGE, (b"item",)),
}
# Attributes of elements of feeds, and of their modules, that are a URL.
_OF_FEEDS = {
    (b"enclosure", b"url"): LinkRole.PAGE,
    (b"content", b"src"): LinkRole.PAGE,
    (b"source", b"url"): LinkRole.FEED,
}
_OF_MODULES = {
    _MEDIA: {
        (b"content", b"url"): LinkRole.PAGE,
        (b"player", b"url"): LinkRole.PAGE,
        (b"thumbnail", b"url"): LinkRole.REQUISITE,
    },
    _ITUNES: {(b"image", b"href"): LinkRole.REQUISITE},
}
# Relations of Atom's links that lead to pages for people.
_READ = frozenset({"", "alternate", "related", "via", "enclosure"})


# A million short URLs within a long base become as long, and each scope has its own prefixes.
_MAX_CHARACTERS = 2**24
_MAX_DEPTH = 200
_MAX_PREFIXES = 200


class _Scope(NamedTuple):
    """An element that is open, in small letters.

    Attributes:
        tag: Its name with its prefix.
        name: Its name.
        space: Its namespace, without a slash at the end.
        base: What ``xml:base`` says of it and around it; empty: nothing.
        spaces: Namespaces of the prefixes within it.
    """

    tag: bytes
    name: bytes
    space: bytes
    base: str
    spaces: dict[bytes, bytes]


def read_xml(elements: Elements) -> None:
    """Collect the URLs of an XML document.

    Complexity: O(length).
    """
    _XmlScan(elements).run()


class _XmlScan:
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._places = elements.places
        self._text = elements.places.text
        self._open = [_Scope(b"", b"", b"", "", _USUAL)]
        self._names: Counter[bytes] = Counter()
        self._root: _Scope | None = None
        # Of the entry that is open: its name where that is a URL, and whether it has a link.
        self._identity: LinkPlace | None = None
        self._has_link = False
        self._room = _MAX_CHARACTERS

    def run(self) -> None:
        at = 0
        while (stop := XML_STOP.match(self._text, at)) is not None:
            at = stop.end()
            if stop.lastindex == _END:
                self._leave(stop[1].lower())
            elif stop.lastindex == _START:
                self._enter(stop[2].lower(), stop.span(3), at)
            else:
                _style_sheet(self._elements, *stop.span(4))
        if self._root is not None and self._root.name in _XSLT:
            _leave_templates(self._elements)

    def _enter(self, tag: bytes, span: tuple[int, int], at: int) -> None:
        scope = self._scope(tag, span)
        self._root = self._root or scope
        first = len(self._places.found)
        self._read(scope, span, at)
        if scope.base:
            self._join(first, scope.base)
        if self._text[span[1] - 1 : span[1]] != b"/":
            self._open.append(scope)
            self._names[tag] += 1

    def _leave(self, tag: bytes) -> None:
        if self._names[tag]:
            while (scope := self._open.pop()).tag != tag:
                self._names[scope.tag] -= 1
            self._names[tag] -= 1
            if scope.name in _ENTRIES and self._identity is not None:
                if not self._has_link:
                    self._places.add(self._identity)
                self._identity = None

    def _scope(self, tag: bytes, span: tuple[int, int]) -> _Scope:
        outer = self._open[-1]
        base, spaces = outer.base, outer.spaces
        if self._text.find(b"xml", *span) >= 0 and len(self._open) <= _MAX_DEPTH:
            attributes = read_attributes(self._text, *span)
            if len(spaces) < _MAX_PREFIXES:
                spaces = spaces | dict(islice(self._declared(attributes), _MAX_PREFIXES))
            if (written := attributes.get(b"xml:base")) is not None:
                base = joined(base, self._places.value(written))
                fix = Edit(written.name_start, written.name_end, b"data-base")
                self._elements.fixes.append(fix)
        prefix, _, name = tag.rpartition(b":")
        return _Scope(tag, name, spaces.get(prefix, prefix).rstrip(b"/"), base, spaces)

    def _declared(self, attributes: Attributes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the prefixes that an element declares, with their namespaces."""
        for key, attribute in attributes.items():
            name, _, prefix = key.partition(b":")
            if name == b"xmlns":
                space = self._places.value(attribute).strip().encode("utf-8", "replace")
                if space == _XLINK:
                    self._elements.linking = prefix + b":href"
                yield prefix, space

    def _join(self, first: int, base: str) -> None:
        """Let the places of an element be URLs as from its own base."""
        found = self._places.found
        for number in range(first, len(found)):
            written = joined(base, found[number].written)
            self._room -= len(written)
            if self._room > 0:
                found[number] = found[number]._replace(written=written, is_joined=True)

    def _read(self, scope: _Scope, span: tuple[int, int], at: int) -> None:
        root = self._root
        assert root is not None
        is_feed, space = root.name in _FEEDS, scope.space
        if is_feed and (space in _OF_MODULES or self._is_of_feed(scope)):
            self._feed_element(scope, span, at)
            return
        is_page = space == _XHTML or (root.name == b"html" and space == root.space)
        if is_page and scope.name in _HTML_ONLY:
            if not is_feed or scope.name not in _OF_THE_PAGE:
                self._elements.html(scope.name, *span)
        elif is_page or space in (*_DRAWN, b"", root.space):
            self._elements.foreign(scope.name, *span)
        else:
            return
        if scope.name == b"style" and self._text[span[1] - 1 : span[1]] != b"/":
            self._elements.inline_sheet(at)

    def _is_of_feed(self, scope: _Scope) -> bool:
        is_named_so = self._root is not None and scope.space == self._root.space
        return is_named_so or is_feed_namespace(scope.space.decode("latin-1"))

    def _feed_element(self, scope: _Scope, span: tuple[int, int], at: int) -> None:
        attributes = read_attributes(self._text, *span)
        if scope.name in _ENTRIES:
            self._identity, self._has_link = None, False
        if scope.name == b"link" and b"href" in attributes:
            relation = self._places.value(attributes.get(b"rel")).strip().lower()
            self._has_link |= relation in {"", "alternate"}
            media_type = self._places.value(attributes.get(b"type")).strip().lower()
            self._places.address(attributes[b"href"], _kind_of_atom_link(relation, media_type))
            return
        kinds = _OF_MODULES.get(scope.space, _OF_FEEDS)
        for key, attribute in attributes.items():
            if (scope.name, key) in kinds:
                self._places.address(attribute, kinds[scope.name, key])
        if scope.space in _OF_MODULES or self._text[span[1] - 1 : span[1]] == b"/":
            return
        if scope.name not in _TEXT_ADDRESSES:
            return
        kind, within = _TEXT_ADDRESSES[scope.name]
        place, outer = self._text_place(kind, at), self._open[-1]
        is_there = not within or (outer.name in within and self._is_of_feed(outer))
        if place is None or not is_there:
            return
        if scope.name != b"guid":
            self._has_link |= scope.name == b"link"
            self._places.add(place)
        elif _ABSOLUTE.match(place.written) and self._is_permanent(attributes):
            self._identity = place

    def _is_permanent(self, attributes: Attributes) -> bool:
        """Return whether an entry's name says that it is a URL, as it does by default."""
        declared = self._places.value(attributes.get(b"ispermalink"))
        return declared.strip().lower() != "false"

    def _text_place(self, kind: LinkRole, at: int) -> LinkPlace | None:
        match = _TEXT.match(self._text, at)
        if match is None or match.lastindex is None:
            return None
        which = match.lastindex
        raw, start = match[which].rstrip(), match.start(which)
        value = raw if which == 1 else read_value(raw, self._places.encoding).text
        written = self._places.decode(value)
        write = write_cdata if which == 1 else write_text
        place = LinkPlace(start, start + len(raw), written, kind, False, write)
        return place if written else None


def _leave_templates(elements: Elements) -> None:
    """Leave what is a URL only where the style sheet is applied: ``href="{@url}"``."""
    found = elements.places.found
    found[:] = (place for place in found if "{" not in place.written)


def _style_sheet(elements: Elements, start: int, end: int) -> None:
    href = read_attributes(elements.places.text, start, end).get(b"href")
    if href is not None:
        elements.places.address(href, LinkRole.REQUISITE)


def _kind_of_atom_link(relation: str, media_type: str) -> LinkRole:
    if relation not in _READ:
        return LinkRole.OTHER
    return LinkRole.FEED if media_type in FEED_TYPES else LinkRole.PAGE
