"""Read the elements of HTML and SVG: their URLs, and the edits that any copy needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.mirror.documents.attributes import UNQUOTED, read_attributes
from crawler.mirror.documents.edits import Edit
from crawler.mirror.documents.places import (
    GUESSED,
    SETS,
    LinkKind,
    foreign_kind_of,
    kind_of,
    kind_of_relation,
)
from crawler.mirror.documents.tags import PAINTS
from crawler.reading.metadata.metadata_record import directives

if TYPE_CHECKING:
    from crawler.mirror.documents.attributes import Attribute
    from crawler.mirror.documents.places import Places

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
_ADDRESS_LIKE = re.compile(r"\s*(?:https?:)?[^\s<>{}\"':]*[./][^\s<>{}\"']*\s*\Z", re.IGNORECASE)
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
                nofollow = kind is LinkKind.PAGE and self._is_nofollow(attributes)
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
            self.places.address(action, LinkKind.FORM if is_got else LinkKind.OTHER)

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
            self.places.address(content, LinkKind.OTHER)
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
                self.places.address(data, LinkKind.REQUISITE, written=joined)
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
            self.places.address(value, LinkKind.REQUISITE)

    def _value(self, attributes: Attributes, name: bytes) -> str:
        return self.places.value(attributes.get(name))

    def _is_call(self, attribute: Attribute) -> bool:
        return self.places.text.find(b"(", attribute.start, attribute.end) >= 0

    def _is_nofollow(self, attributes: Attributes) -> bool:
        return "nofollow" in self._value(attributes, b"rel").lower()

    def _is_address(self, key: bytes, attribute: Attribute) -> bool:
        value = self.places.value(attribute)
        return (_SET_LIKE.search(value) if key in SETS else _ADDRESS_LIKE.match(value)) is not None


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
