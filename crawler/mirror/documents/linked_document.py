"""Find a document's links, and replace their URLs."""

from __future__ import annotations

import re
from enum import Enum
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from crawler.mirror.documents.charsets import (
    View,
    css_charset,
    html_charset,
    script_charset,
    xml_charset,
)
from crawler.mirror.documents.elements import Elements, read_html, renamed
from crawler.mirror.documents.places import Edit, LinkRole, Places, Rewritten, apply_edits
from crawler.mirror.documents.scripts import SCRIPT_ENDINGS, SCRIPT_TYPES, names_any, read_names
from crawler.mirror.documents.tags import QUOTINGS, escape
from crawler.mirror.documents.xml import read_xml
from crawler.mirror.endings import is_text_name
from crawler.reading.content_types import VAGUE_TYPES, why_not_html
from crawler.reading.link_extraction import (
    ASCII_MARKS,
    DROPPED,
    ENDS,
    SCHEME,
    base_url,
    resolve,
)
from crawler.reading.url_joining import PlainJoiner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class DocumentType(Enum):
    HTML = "html"
    XML = "xml"
    CSS = "css"
    SCRIPT = "script"


XML_TYPES = frozenset(
    {
        "application/xhtml+xml",
        "application/vnd.wap.xhtml+xml",
        "application/xml",
        "text/xml",
        "text/xsl",
        "application/xslt+xml",
        "image/svg+xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
    }
)
_DECLARED = (
    {"text/css": DocumentType.CSS, "application/manifest+json": DocumentType.SCRIPT}
    | dict.fromkeys(SCRIPT_TYPES, DocumentType.SCRIPT)
    | dict.fromkeys(XML_TYPES, DocumentType.XML)
)
_SNIFFED_BYTES = 2048
_XML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml\s|<(?:svg|rss|feed|rdf:RDF)[\s>])", re.IGNORECASE
)


def document_type(body: bytes, url: str, content_type: str | None) -> DocumentType | None:
    """Return the syntax of a body, or None if it can hold no links.

    If the declared type is of no use, the first bytes tell HTML and XML, and the end of the URL's
    path a style sheet. Plain text by type and name is not HTML, whatever it begins with.
    """
    kind = _type_by_start(body, url, content_type)
    if kind is DocumentType.SCRIPT and not names_any(body, _file_name(url)):
        return None
    return kind


def may_be_document(start: bytes, url: str, content_type: str | None) -> bool:
    """Return whether a body with these first bytes can hold links."""
    return _type_by_start(start, url, content_type) is not None


def _type_by_start(start: bytes, url: str, content_type: str | None) -> DocumentType | None:
    declared = (content_type or "").partition(";")[0].strip().lower()
    kind = _DECLARED.get(declared)
    is_text = declared == "text/plain" and is_text_name(url)
    if kind is None and not is_text and why_not_html(content_type, start) is None:
        kind = DocumentType.HTML
    if kind is None and declared in VAGUE_TYPES:
        kind = _sniffed(start, url)
    return kind


def may_hold_links(content_type: str | None) -> bool:
    """Return whether a body of this type can hold links, as far as its head tells."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    is_known = declared in _DECLARED or declared in VAGUE_TYPES
    return is_known or why_not_html(content_type, b"") is None


def _sniffed(body: bytes, url: str) -> DocumentType | None:
    if _XML_START.match(body[:_SNIFFED_BYTES]):
        return DocumentType.XML
    path = _path(url)
    if path.endswith((*SCRIPT_ENDINGS, ".webmanifest")):
        return DocumentType.SCRIPT
    return DocumentType.CSS if path.endswith(".css") else None


def _file_name(url: str) -> str:
    return _path(url).rpartition("/")[2]


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.lower()
    except ValueError:
        return ""


# Longer URLs are not requested. With a <base> of that length each of a million short URLs
# becomes as long, so their sum in a document is bounded too.
_MAX_URL_CHARACTERS = 8192
_MAX_CHARACTERS = 2**24

_CHARSETS = {
    DocumentType.HTML: html_charset,
    DocumentType.CSS: css_charset,
    DocumentType.XML: xml_charset,
    DocumentType.SCRIPT: script_charset,
}


_DOCUMENT_BYTES = 1024
_LINK_BYTES = 360
_EDIT_BYTES = 200

DEAD = "#"
"""A URL that leads nowhere."""


class Addresses:
    """Resolves the URLs that are written in one document.

    Args:
        base: URL against which they are resolved.
        encoding: Encoding in which their queries are sent.
    """

    def __init__(self, base: str, encoding: str) -> None:
        self._base = base
        self._encoding = encoding
        self._urls: dict[str, str | None] = {}
        self._room = _MAX_CHARACTERS
        self._join = PlainJoiner(base).join

    def resolve(self, written: str) -> tuple[str | None, str]:
        """Return the URL without its fragment, None if it is never requested, and the fragment."""
        address, mark, fragment = written.partition("#")
        url = self._urls.get(address, "")
        if url == "":
            url = self._urls[address] = self._resolve(address)
            self._room -= len(url or "")
        if mark:
            fragment = DROPPED.sub("", fragment.rstrip(ENDS))
        return url, fragment

    def _resolve(self, address: str) -> str | None:
        if (
            self._room <= 0
            or len(address) > _MAX_URL_CHARACTERS
            or len(self._base) > _MAX_URL_CHARACTERS
        ):
            return None
        try:
            url = self._join(address) or resolve(self._base, address, self._encoding)
        except ValueError:
            return None
        return None if url is None else url.partition("#")[0]


def as_ascii(url: str) -> str:
    """Percent-encode spaces and non-ASCII characters of a URL."""
    return quote(url, ASCII_MARKS)


def is_local(address: str) -> bool:
    """Return whether a URL is relative, so that it leads to a file beside the document."""
    return not address.startswith("//") and not has_scheme(address)


def has_scheme(address: str) -> bool:
    return SCHEME.match(address) is not None


class DocumentLink(NamedTuple):
    """A URL in a document.

    Attributes:
        url: URL that a browser would request, otherwise as the site wrote it, without the
            fragment; None if it is no http or https URL.
        fragment: Fragment after the ``#``, as written.
        kind: Relation of the URL to the document.
        nofollow: Whether this link asks not to be followed.
        written: URL as written, with character references and escapes decoded.
    """

    url: str | None
    fragment: str
    kind: LinkRole
    nofollow: bool
    written: str


class LinkedDocument:
    """A body with the links that were found in it.

    Attributes:
        base: URL against which its URLs are resolved.
        nofollow: Whether a robots meta tag asks not to follow its links.
        has_modules: Whether it is a page that runs a script of type ``module``.
        keeps_base: Whether its scripts may read its ``<base href>``: an application's router does.
        size: Size of the body in bytes.
        links: One link for each place, in the order of the bytes.
    """

    def __init__(self, body: bytes, url: str, content_type: str | None, kind: DocumentType) -> None:
        charset = _CHARSETS[kind](body, content_type)
        self._body = body
        self.size = len(body)
        self._declaration = charset.declaration
        self._encoding = charset.encoding
        self._view = View(body, charset.encoding)
        places = Places(self._view.text, self._view.encoding)
        elements = Elements(places)
        if kind is DocumentType.HTML:
            read_html(elements)
        elif kind is DocumentType.XML:
            read_xml(elements)
        elif kind is DocumentType.SCRIPT:
            places.script(0, read_names(places.text, is_inline=False, name=_file_name(url)))
        else:
            places.sheet(0, len(places.text))
        places.found.sort()
        self._places = places.found
        self._fixes = elements.fixes
        self._has_base = elements.base is not None
        self._base_href = elements.base_href
        is_written = elements.base_href is not None and elements.base_href.quotes in QUOTINGS
        self.keeps_base = is_written and elements.has_scripts
        self.base = base_url(elements.base, url)
        self.nofollow = elements.nofollow
        self.has_modules = elements.has_modules
        addresses = Addresses(self.base, charset.encoding).resolve
        self.links = [
            DocumentLink(*addresses(written), kind, nofollow, written)
            for _, _, written, kind, nofollow, *_ in self._places
        ]

    def held_bytes(self) -> int:
        """Return about how much memory the document takes without its body.

        A link may be as long as the document, such as a picture in a ``data:`` URL.
        """
        strings = sum(
            getsizeof(link.written) + getsizeof(link.url) + getsizeof(link.fragment)
            for link in self.links
        )
        edits = [edit for place in self._places for edit in place.companions] + self._fixes
        replacements = sum(len(edit.replacement) for edit in edits)
        links = _LINK_BYTES * len(self.links) + _EDIT_BYTES * len(edits)
        return _DOCUMENT_BYTES + len(self.base) + strings + links + replacements

    def put_away(self) -> None:
        """Let go of the body, which is needed again to rewrite the document."""
        self._view = View(b"", self._encoding)
        self._body = b""

    def take_up(self, body: bytes) -> None:
        """Take the same body again."""
        self._body, self._view = body, View(body, self._encoding)

    def rewrite(
        self, address_of: Callable[[DocumentLink], str | None], base: str | None = None
    ) -> Rewritten:
        """Replace the URLs of the document.

        A ``<base>`` has no effect afterwards, unless it gets a URL of the copy. So remaining URLs
        are written absolute if there was one. Also without effect afterwards: a
        Content-Security-Policy of the page, and for each URL that becomes relative ``integrity``
        and ``crossorigin`` of its element, which browsers refuse to check on files. A missing
        declaration of the encoding is added.

        Args:
            address_of: Function that returns the new URL of a link, with its fragment, in
                percent-encoded ASCII, or None to keep it. It is not called for links without a URL.
                For a link that leaves the mirror it should return ``absolute_address``: ``/x`` and
                ``//host/x`` mean another place on disk.
            base: What ``<base href>`` says in the copy, where ``keeps_base``.

        Returns:
            The new body, and the patch with which ``undo`` restores the old one.

        Complexity: O(length + links).
        """
        found = {*self._edits(address_of), *self._fixes}
        if (href := self._base_href) is not None and base is None:
            found.add(renamed(href, b"data-href"))
        elif href is not None and base is not None:
            found.add(Edit(href.start, href.end, escape(base, href.quotes)))
        edits = list(self._view.in_body(found))
        if self._declaration is not None:
            edits.append(self._declaration)
        return apply_edits(self._body, edits)

    def _edits(self, address_of: Callable[[DocumentLink], str | None]) -> Iterator[Edit]:
        for place, link in zip(self._places, self.links, strict=True):
            if link.kind is LinkRole.NAMED:  # nobody knows what a script makes of it
                if link.url is not None:
                    address_of(link)
                continue
            address = _unresolved(link) if link.url is None else address_of(link)
            if address is None:
                if link.url is None or not (self._has_base or place.is_joined):
                    continue
                address = absolute_address(link)
            if address != link.written or place.is_joined:
                yield Edit(place.start, place.end, place.write(address))
            if place.companions and (is_local(address) or address.startswith("data:")):
                yield from place.companions


def read_document(body: bytes, url: str, content_type: str | None) -> LinkedDocument | None:
    """Find the links of a document; return None for a body that can hold no links.

    Args:
        body: Body as served, decompressed.
        url: URL of the document.
        content_type: Header of that name.

    Complexity: O(length).
    """
    kind = document_type(body, url, content_type)
    return None if kind is None else LinkedDocument(body, url, content_type, kind)


def _unresolved(link: DocumentLink) -> str | None:
    """Return ``DEAD`` for a URL that only a file on disk could answer, else None."""
    written = link.written.strip()
    is_beside = bool(written) and not written.startswith("#") and is_local(written)
    return DEAD if is_beside else None


def absolute_address(link: DocumentLink) -> str:
    """Return the absolute URL that a link led to when the document was served.

    A URL with a scheme is returned as written: then nothing changes. ``//host/x`` has none, and
    would be a file.

    Raises:
        ValueError: The link has no URL.
    """
    if has_scheme(link.written.strip()):
        return link.written
    if link.url is None:
        raise ValueError(f"no URL in {link.written[:100]!r}")
    return as_ascii(f"{link.url}#{link.fragment}" if "#" in link.written else link.url)
