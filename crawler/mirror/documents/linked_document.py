"""A document's links, and the document with other addresses in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.documents.addresses import Addresses, as_ascii, has_scheme, is_local
from crawler.mirror.documents.charsets import css_charset, html_charset, xml_charset
from crawler.mirror.documents.edits import Edit, Rewritten, apply_edits
from crawler.mirror.documents.elements import Elements
from crawler.mirror.documents.html import read_html
from crawler.mirror.documents.places import Places
from crawler.mirror.documents.types import DocumentType, document_type
from crawler.mirror.documents.views import View
from crawler.mirror.documents.xml import read_xml
from crawler.reading.link_extraction import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.mirror.documents.link_kinds import LinkKind

_CHARSETS = {
    DocumentType.HTML: html_charset,
    DocumentType.CSS: css_charset,
    DocumentType.XML: xml_charset,
}


DEAD = "#"
"""An address that leads nowhere."""


class DocumentLink(NamedTuple):
    """An address in a document.

    Attributes:
        url: What a browser would ask for, otherwise as the site wrote it, without the fragment;
            None for what leads to no http or https URL.
        fragment: What follows the ``#``, as written.
        kind: What it is to the document.
        nofollow: Whether this link asks not to be followed.
        written: The address with its references and escapes read.
    """

    url: str | None
    fragment: str
    kind: LinkKind
    nofollow: bool
    written: str


class Document:
    """A body whose addresses were found.

    Attributes:
        base: The URL against which its addresses count.
        nofollow: Whether a robots meta tag asks not to follow its links.
        size: Bytes.
        links: One for each place, in the order of the bytes.
    """

    base: str
    nofollow: bool
    size: int
    links: Sequence[DocumentLink]

    def __init__(self, body: bytes, url: str, content_type: str | None, kind: DocumentType) -> None:
        charset = _CHARSETS[kind](body, content_type)
        self._body = body
        self.size = len(body)
        self._declaration = charset.declaration
        self._view = View(body, charset.encoding)
        places = Places(self._view.text, self._view.encoding)
        elements = Elements(places)
        if kind is DocumentType.HTML:
            read_html(elements)
        elif kind is DocumentType.XML:
            read_xml(elements)
        else:
            places.sheet(0, len(places.text))
        places.found.sort()
        self._places = places.found
        self._fixes = elements.fixes
        self._has_base = elements.base is not None
        self.base = _base(url, elements.base)
        self.nofollow = elements.nofollow
        addresses = Addresses(self.base, charset.encoding).resolve
        self.links = [
            DocumentLink(*addresses(written), kind, nofollow, written)
            for _, _, written, kind, nofollow, _, _ in self._places
        ]

    def rewrite(self, address_of: Callable[[DocumentLink], str | None]) -> Rewritten:
        """Put other addresses in the places of the document's.

        A ``<base>`` counts no more, so what is left as it stands is written absolute where one
        did. Also without effect from then on: a Content-Security-Policy of the page's own, and
        for each address that becomes relative ``integrity`` and ``crossorigin`` of its element,
        which browsers refuse to check on files. What is missing to know the encoding is added.

        Args:
            address_of: Gives the new address of a link, with its fragment, in percent-encoded
                ASCII; None leaves it as it stands. Not asked of links without a URL. For a link
                that leaves the mirror ``absolute_address`` is the answer: ``/x`` and ``//host/x``
                mean something else on disk.

        Returns:
            The new body, and the patch with which ``undo`` takes everything back.

        Complexity: O(length + links).
        """
        edits = list(self._view.in_body({*self._edits(address_of), *self._fixes}))
        if self._declaration is not None:
            edits.append(self._declaration)
        return apply_edits(self._body, edits)

    def _edits(self, address_of: Callable[[DocumentLink], str | None]) -> Iterator[Edit]:
        for place, link in zip(self._places, self.links, strict=True):
            address = _unresolved(link) if link.url is None else address_of(link)
            if address is None:
                if link.url is None or not self._has_base:
                    continue
                address = absolute_address(link)
            if address == link.written:
                continue
            yield Edit(place.start, place.end, place.write(address))
            if place.companions and is_local(address):
                yield from place.companions


def read_document(body: bytes, url: str, content_type: str | None) -> Document | None:
    """Find the addresses of a document; None for what holds no links.

    Args:
        body: As it was served, decompressed.
        url: Where it was served.
        content_type: The header.

    Complexity: O(length).
    """
    kind = document_type(body, url, content_type)
    return None if kind is None else Document(body, url, content_type, kind)


def _unresolved(link: DocumentLink) -> str | None:
    """Of what no browser could ask for, what a disk might have: nothing then."""
    written = link.written.strip()
    is_beside = bool(written) and not written.startswith("#") and is_local(written)
    return DEAD if is_beside else None


def _base(url: str, written: str | None) -> str:
    if written is None:
        return url
    try:
        return resolve(url, written) or url
    except ValueError:
        return url


def absolute_address(link: DocumentLink) -> str:
    """Return the address that leads where a link led when the document was served, from anywhere.

    As it was written where it names its scheme: then nothing changes. ``//host/x`` does not, and
    would be a file.

    Raises:
        ValueError: The link has no URL.
    """
    if has_scheme(link.written.strip()):
        return link.written
    if link.url is None:
        raise ValueError(f"no URL in {link.written[:100]!r}")
    return as_ascii(f"{link.url}#{link.fragment}" if "#" in link.written else link.url)
