"""Read the elements of HTML and SVG in the order of their bytes: their URLs, and needed edits."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.mirror.documents.places import (
    GUESSED,
    SETS,
    Edit,
    LinkPlace,
    LinkRole,
    Places,
    foreign_kind_of,
    kind_of,
    kind_of_relation,
    write_double,
)
from crawler.mirror.documents.scripts import SCRIPT_TYPES, read_import_map, read_names
from crawler.mirror.documents.tags import (
    BREAKOUT,
    FOREIGN,
    FOREIGN_STOP,
    HTML_STOP,
    INTEGRATION,
    PAINTS,
    RAW,
    UNQUOTED,
    raw_text_end,
    read_attributes,
)
from crawler.reading.metadata.metadata_record import directives
from crawler.reading.value_addresses import may_be_address

if TYPE_CHECKING:
    from crawler.mirror.documents.tags import Attribute

    Attributes = dict[bytes, Attribute]

# Attributes that browsers compare with a server's answer, and cannot with a file.
_CHECKS = (b"integrity", b"crossorigin")
_PICTURES = frozenset({"og:image", "og:image:url", "og:image:secure_url"})
_NAMED_PICTURES = frozenset({"twitter:image", "twitter:image:src", "msapplication-tileimage"})
# Attributes of drawings that are CSS, whose url() may be a fragment of a file.
_PAINTS = frozenset(PAINTS.encode().split())
# Parameters of plug-ins that are the file to play.
_PLAYED = frozenset({"movie", "src", "filename"})
_MEDIA = frozenset({b"audio", b"video"})
_SET_LIKE = re.compile(r"[./]")
_CDATA = re.compile(rb"[\t\n\f\r ]*+<!\[CDATA\[")


class Elements:
    """Reads elements, one tag after the other.

    Attributes:
        places: Places of the URLs that were found.
        base: First ``<base href>``, as written.
        base_href: Where it stands.
        nofollow: Whether a robots meta tag asks not to follow any link.
        has_modules: Whether a script is a module.
        has_scripts: Whether there is any script.
        fixes: Edits that any copy on disk needs.
        script_type: ``type`` of the last ``script``, in lower case.
        srcdoc: The document that stands in the last ``iframe`` itself, or None.
        linking: The attribute by which elements of XML link, with its prefix.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.base: str | None = None
        self.base_href: Attribute | None = None
        self.nofollow = False
        self.has_modules = False
        self.has_scripts = False
        self.fixes: list[Edit] = []
        self.script_type = ""
        self.srcdoc: Attribute | None = None
        self.linking = b"xlink:href"
        self._media_checks: tuple[Edit, ...] = ()

    def html(self, name: bytes, start: int, end: int) -> Attributes:
        """Read a start tag of HTML; return its attributes.

        Args:
            name: Lower-case name of the tag.
            start: Offset of its attributes.
            end: Offset of its ``>``.
        """
        attributes = read_attributes(self.places.text, start, end)
        look = _LOOKS.get(name, Elements._generic)
        look(self, name, attributes)
        if b"style" in attributes:
            self.places.style(attributes[b"style"])
        return attributes

    def foreign(self, name: bytes, start: int, end: int) -> Attributes:
        """Read a start tag of SVG or MathML; see ``html`` for the result."""
        attributes = read_attributes(self.places.text, start, end)
        for key, attribute in attributes.items():
            kind = foreign_kind_of(name, b"href" if key == self.linking else key)
            if kind is not None:
                self.places.address(attribute, kind, nofollow=self._is_nofollow(attributes))
            elif key == b"style" or (key in _PAINTS and self._is_call(attribute)):
                self.places.style(attribute)
        return attributes

    def inline_sheet(self, at: int) -> None:
        """Read the text of a ``style`` that is no raw text: in XML and in SVG."""
        text = self.places.text
        opening = _CDATA.match(text, at)
        if opening is not None:
            end = text.find(b"]]>", opening.end())
            self.places.sheet(opening.end(), len(text) if end < 0 else end)
            return
        end = text.find(b"<", at)
        self.places.text_sheet(at, len(text) if end < 0 else end)

    def _generic(self, name: bytes, attributes: Attributes) -> None:
        checks = _checks(attributes)
        if name in _MEDIA:
            self._media_checks = checks
        elif name == b"source":
            checks += self._media_checks
        for key, attribute in attributes.items():
            kind = kind_of(name, key)
            if kind is None or (key in GUESSED and not self._is_address(key, attribute)):
                continue
            if key in GUESSED and "url(" in self.places.value(attribute):
                self.places.style(attribute)
            elif key in SETS:
                self.places.addresses(attribute, kind, checks)
            else:
                nofollow = kind is LinkRole.PAGE and self._is_nofollow(attributes)
                self.places.address(attribute, kind, nofollow=nofollow, companions=checks)

    def _input(self, name: bytes, attributes: Attributes) -> None:
        if self._value(attributes, b"type").strip().lower() != "image":
            attributes = {key: each for key, each in attributes.items() if key != b"src"}
        self._generic(name, attributes)

    def _script(self, name: bytes, attributes: Attributes) -> None:
        self.script_type = self._value(attributes, b"type").strip().lower()
        self.has_modules |= self.script_type == "module"
        self.has_scripts = True
        self._generic(name, attributes)

    def _form(self, name: bytes, attributes: Attributes) -> None:
        """Read a form; one that is not sent by GET is asked for by no link."""
        action = attributes.get(b"action")
        is_got = self._value(attributes, b"method").strip().lower() in {"", "get"}
        if action is not None:
            self.places.address(action, LinkRole.FORM if is_got else LinkRole.OTHER)

    def _iframe(self, name: bytes, attributes: Attributes) -> None:
        self.srcdoc = attributes.get(b"srcdoc")
        self._generic(name, attributes)

    def _link(self, _: bytes, attributes: Attributes) -> None:
        relation, media_type = (self._value(attributes, key) for key in (b"rel", b"type"))
        kind = kind_of_relation(relation, media_type)
        checks = _checks(attributes)
        for key, attribute in attributes.items():
            if key == b"href":
                self.places.address(attribute, kind, companions=checks)
            elif key == b"imagesrcset":
                self.places.addresses(attribute, kind, checks)

    def _base(self, _: bytes, attributes: Attributes) -> None:
        href = attributes.get(b"href")
        if href is not None and self.base is None:
            self.base, self.base_href = self.places.value(href), href
        elif href is not None:
            self.fixes.append(renamed(href, b"data-href"))

    def _meta(self, _: bytes, attributes: Attributes) -> None:
        content = attributes.get(b"content")
        equivalent = attributes.get(b"http-equiv")
        if content is None:
            return
        match self.places.value(equivalent).strip().lower():
            case "refresh":
                self.places.refresh(content)
            case "content-security-policy":
                assert equivalent is not None
                self.fixes.append(renamed(equivalent, b"data-http-equiv"))
        name = self._value(attributes, b"name").strip().lower()
        relation = self._value(attributes, b"property").strip().lower()
        if relation in _PICTURES or name in _NAMED_PICTURES:
            self.places.address(content, LinkRole.OTHER)
        if name == "robots":
            self.nofollow |= "nofollow" in directives(self.places.value(content))

    def _object(self, name: bytes, attributes: Attributes) -> None:
        """Read a plug-in, whose file is named as from its ``codebase``."""
        key = b"archive" if name == b"applet" else b"data"
        data = attributes.get(key)
        if data is not None:
            written = self.places.value(data)
            joined = self._from_codebase(attributes, written)
            is_list = name == b"applet" and "," in written  # several are left as they are
            if joined is not None and not is_list:
                self.places.address(data, LinkRole.REQUISITE, written=joined)
                self.fixes.append(renamed(attributes[b"codebase"], b"data-codebase"))
            if joined is not None or is_list:
                attributes = {each: at for each, at in attributes.items() if each != key}
        self._generic(name, attributes)

    def _from_codebase(self, attributes: Attributes, written: str) -> str | None:
        """Return a URL as it is from the ``codebase``, or None where that says nothing of it.

        That of a control (``classid="clsid:..."``) is where its program can be had.
        """
        base = self._value(attributes, b"codebase").strip()
        is_control = self._value(attributes, b"classid").strip().lower().startswith("clsid:")
        if not base or not written.strip() or is_control:
            return None
        try:
            return urljoin(base if base.endswith("/") else f"{base}/", written)
        except ValueError:  # http://[x
            return None

    def _parameter(self, _: bytes, attributes: Attributes) -> None:
        value = attributes.get(b"value")
        if value is not None and self._value(attributes, b"name").strip().lower() in _PLAYED:
            self.places.address(value, LinkRole.REQUISITE)

    def _value(self, attributes: Attributes, name: bytes) -> str:
        return self.places.value(attributes.get(name))

    def _is_call(self, attribute: Attribute) -> bool:
        return self.places.text.find(b"(", attribute.start, attribute.end) >= 0

    def _is_nofollow(self, attributes: Attributes) -> bool:
        return "nofollow" in self._value(attributes, b"rel").lower()

    def _is_address(self, key: bytes, attribute: Attribute) -> bool:
        value = self.places.value(attribute)
        return bool(_SET_LIKE.search(value)) if key in SETS else may_be_address(value)


_LOOKS = {
    b"applet": Elements._object,
    b"base": Elements._base,
    b"form": Elements._form,
    b"iframe": Elements._iframe,
    b"input": Elements._input,
    b"link": Elements._link,
    b"meta": Elements._meta,
    b"object": Elements._object,
    b"param": Elements._parameter,
    b"script": Elements._script,
}


def _checks(attributes: Attributes) -> tuple[Edit, ...]:
    return tuple(
        renamed(attributes[name], b"data-" + name) for name in _CHECKS if name in attributes
    )


def renamed(attribute: Attribute, name: bytes) -> Edit:
    return Edit(attribute.name_start, attribute.name_end, name)


def end_of_unquoted(attributes: Attributes) -> int:
    """Return the end of the last value without quotes, or -1."""
    return max((each.end for each in attributes.values() if each.quotes == UNQUOTED), default=-1)


_LINK, _TAG = 1, 3  # groups of a stop: the last that took part tells which it is


def read_html(elements: Elements) -> None:
    """Collect the URLs of an HTML document.

    Complexity: O(length).
    """
    _HtmlScan(elements).run(0, len(elements.places.text))


_MAX_DEPTH = 3
"""Read at most this many documents within each other."""


class _HtmlScan:
    def __init__(self, elements: Elements, depth: int = 1) -> None:
        self._elements = elements
        self._depth = depth
        self._end = 0
        self._text = elements.places.text
        self._inside: list[bytes] = []  # foreign elements, and those within that hold HTML again
        self._open: Counter[bytes] = Counter()  # the same, counted

    def run(self, at: int, last: int) -> None:
        text, places = self._text, self._elements.places
        add, encoding, page = places.add, places.encoding, LinkRole.PAGE
        self._end = last
        match = HTML_STOP.match
        while (stop := match(text, at, last)) is not None:
            at = stop.end()
            if stop.lastindex == _LINK:
                start, end = stop.span(1)
                written = str(stop[1], encoding, "replace")
                add(LinkPlace(start, end, written, page, False, write_double))
                continue
            at = self._tag(stop) if stop.lastindex == _TAG else self._end_tag(stop)
            match = FOREIGN_STOP.match if self._inside else HTML_STOP.match

    @property
    def _is_foreign(self) -> bool:
        return bool(self._inside) and self._inside[-1] in FOREIGN

    def _tag(self, stop: re.Match[bytes]) -> int:
        name, at = stop[2].lower(), stop.end()
        start, end = stop.span(3)
        if self._is_foreign and name in BREAKOUT:
            self._break_out()
        if self._is_foreign:
            attributes = self._elements.foreign(name, start, end)
            if name == b"style" and self._text[end - 1 : end] != b"/":
                self._elements.inline_sheet(at)
            if name in FOREIGN or name in INTEGRATION[self._inside[-1]]:
                self._enter(name, attributes, end)
            return at
        attributes = self._elements.html(name, start, end)
        if name in FOREIGN:
            self._enter(name, attributes, end)
        elif name in RAW:
            at, begun = raw_text_end(self._text, name, at, self._end), at
            self._raw(name, begun, at)
        return at

    def _raw(self, name: bytes, start: int, end: int) -> None:
        """Read the text of an element that is no markup of the document."""
        elements = self._elements
        if name == b"style":
            elements.places.sheet(start, end)
        elif name == b"script" and start < end:
            self._script(start, end)
        elif name == b"noframes" and self._depth < _MAX_DEPTH:
            # Its base and its robots are not those of the page.
            _HtmlScan(Elements(elements.places), self._depth + 1).run(start, end)
        elif name == b"iframe" and elements.srcdoc is not None and self._depth < _MAX_DEPTH:
            self._srcdoc(elements.srcdoc)

    def _script(self, start: int, end: int) -> None:
        kind, code = self._elements.script_type, self._text[start:end]
        if kind == "importmap":
            self._elements.places.script(start, read_import_map(code))
        elif not kind or kind == "module" or kind in SCRIPT_TYPES:
            self._elements.places.script(start, read_names(code, is_inline=True))
        elif kind == "application/json":  # what a script is told, such as the names of its workers
            named = (found for found in read_names(code, is_inline=True) if found.is_guess)
            self._elements.places.script(start, named)

    def _srcdoc(self, attribute: Attribute) -> None:
        """Read the document that an attribute holds, whose URLs are relative to the page.

        One with a base of its own is left as it is.
        """
        places = self._elements.places
        value = places.read(attribute)
        inner = Elements(Places(value.text, places.encoding))
        _HtmlScan(inner, self._depth + 1).run(0, len(value.text))
        if inner.base is None:
            self._elements.fixes += places.srcdoc(attribute, value, inner.places.found, inner.fixes)
            self._elements.has_modules |= inner.has_modules

    def _enter(self, name: bytes, attributes: dict[bytes, Attribute], end: int) -> None:
        if end <= end_of_unquoted(attributes) or self._text[end - 1 : end] != b"/":
            self._inside.append(name)
            self._open[name] += 1

    def _end_tag(self, stop: re.Match[bytes]) -> int:
        name = stop[4].lower()
        if self._open[name]:
            while self._leave() != name:
                pass
        elif self._is_foreign and name in BREAKOUT:
            self._break_out()
        return stop.end()

    def _break_out(self) -> None:
        while self._is_foreign:
            self._leave()

    def _leave(self) -> bytes:
        name = self._inside.pop()
        self._open[name] -= 1
        return name
