"""Pack the content of a page that users are shown, and unpack it.

It is XML in the vocabulary of trafilatura: ``body`` with ``p``, ``head``, ``list``, ``item``,
``quote``, ``code``, ``table``, ``row``, ``cell``, ``ref``, ``graphic``, ``hi``, ``lb`` and ``del``;
where readers commented on it ``doc`` of that and ``comments`` with ``p``.
It is stored beside the text that is judged, moves wherever that text moves, and is never compared.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, NamedTuple

import zstandard
from lxml.etree import XMLParser, XMLSyntaxError, XPath, fromstring, tostring

from neardup.whole import part_of

Element = Any  # lxml has no types

MAX_DEPTH = 100
"""Elements within elements; what is deeper is stored as the text of the last one.

libxml2 refuses 256, and trafilatura's writers call themselves for each.
"""

PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""The types of HTML pages, in the order of the trained model."""

DOCUMENT = "document"
"""The type of a page that is no HTML: PDF, a book, plain text."""

MAX_BYTES = 1 << 30
"""The largest size of what a frame may hold, in bytes.

A flipped bit can make a frame say that it holds exabytes, for which no memory is there.
"""

FROM_LINES = "lines"
"""The source of a content that is made of the lines of a text."""

_PARSER = XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
_TOO_DEEP = XPath("/".join("*" * MAX_DEPTH))
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML 1.0 cannot hold, such as an escape."""
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r")
_NONCHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_REFERENCE = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
# Within the value of an attribute, ">" is stored as a reference.
_NOT_TEXT = re.compile(rb"</?(?:ref|hi|del|graphic)\b[^>]*>")


class PackedContent(NamedTuple):
    """The content of a page as it is stored.

    Attributes:
        xml_zstd: The XML, UTF-8, compressed by zstd.
        kind: Type of the page: article, documentation, product, ...; None: it is not known.
        source: Short code of its finder.
    """

    xml_zstd: bytes
    kind: str | None
    source: str


class ContentError(ValueError):
    """A stored content cannot be read."""


def written(body: Element) -> str:
    """Return a tree as XML; deep elements are flattened."""
    for element in _TOO_DEEP(body):
        if len(element):
            text = " ".join(element.itertext(with_tail=True))
            element[:], element.text = [], text
    return str(tostring(body, encoding="unicode", with_tail=False))


def pack_content(body: Element | str, comments: str = "") -> bytes:
    """Return a tree, or its XML, as it is stored, beside it lines of comments."""
    xml = body if isinstance(body, str) else written(body)
    if "&#" in xml:
        xml = _REFERENCE.sub(_allowed, xml)
    if comments:
        xml = f"<doc>{xml}<comments>{_paragraphs(comments)}</comments></doc>"
    return compress(_encoded(xml))


def _encoded(xml: str) -> bytes:
    """Return XML as UTF-8 without characters that it cannot hold."""
    # Bytes are sought in a tenth of the time of characters.
    utf8 = xml.encode("utf-8", "ignore").translate(None, _CONTROLS)
    if _NONCHARACTERS[0][:2] in utf8:
        for noncharacter in _NONCHARACTERS:
            utf8 = utf8.replace(noncharacter, b"")
    return utf8


def _allowed(reference: re.Match[str]) -> str:
    """Return a character reference, or nothing for a character that XML cannot hold."""
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    return "" if NOT_IN_XML.match(chr(number)) else reference[0]


def content_of_lines(text: str) -> PackedContent:
    """Return a content with a paragraph for each line of a text that came without a page."""
    return PackedContent(pack_lines(text), None, FROM_LINES)


def pack_lines(text: str) -> bytes:
    """Return the XML of a content with a paragraph for each line of a text, as it is stored."""
    return compress(f"<body>{_paragraphs(text)}</body>".encode())


def _paragraphs(text: str) -> str:
    lines = (line.strip() for line in NOT_IN_XML.sub("", text).splitlines())
    return "".join(f"<p>{escape(line, quote=False)}</p>" for line in lines if line)


def unpack_content(packed: bytes, *, only_text: bool = False) -> Element:
    """Return the tree of a stored content.

    Args:
        packed: The content.
        only_text: Whether links, emphasis and images are left out, but not their words. They are
            taken out of the XML: between elements taken out of a tree the text stays in pieces,
            which lxml joins in time that grows with their number squared.

    Raises:
        ContentError: It cannot be decompressed, or is no such XML.
    """
    try:
        xml = decompress(packed)
        if only_text:
            xml = _NOT_TEXT.sub(b"", xml)
        root = fromstring(xml, _PARSER)
    except (zstandard.ZstdError, XMLSyntaxError, ValueError) as error:
        raise ContentError(str(error)) from None
    body = root[0] if root.tag == "doc" and len(root) else root
    if body.tag != "body":
        raise ContentError(f"an element body expected, got {body.tag}")
    return body


class StoredText(NamedTuple):
    """The text of a page that is judged and the content that is shown, as they are stored.

    Attributes:
        text: As ``Extract.text_zstd``.
        content: As ``PackedContent.xml_zstd``.
        page_type: As ``PackedContent.kind``.
        content_source: As ``PackedContent.source``.
    """

    text: bytes
    content: bytes
    page_type: str | None = None
    content_source: str = FROM_LINES

    @classmethod
    def of(
        cls,
        text: bytes,
        content: bytes | None,
        page_type: str | None = None,
        content_source: str | None = None,
    ) -> StoredText:
        """Return a stored text; a content that is missing is made of its lines."""
        if content is None:
            content_source = FROM_LINES
            try:
                content = pack_lines(part_of(decompress(text).decode()))
            except (zstandard.ZstdError, UnicodeDecodeError):
                content = b""  # crawl-once verify finds both
        return cls(text, content, page_type, content_source or FROM_LINES)

    @property
    def shown(self) -> PackedContent:
        """The content with its type and its source."""
        return PackedContent(self.content, self.page_type, self.content_source)


def compress(data: bytes) -> bytes:
    """Return bytes as one frame with a checksum, by which any damage is found."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def decompress(packed: bytes) -> bytes:
    """Return what a frame holds.

    Raises:
        zstandard.ZstdError: It is damaged, or says that it holds more than ``MAX_BYTES``.
    """
    size = zstandard.get_frame_parameters(packed).content_size
    if size > MAX_BYTES:
        raise zstandard.ZstdError(f"at most {MAX_BYTES:,} bytes expected, got {size:,}")
    return zstandard.decompress(packed)
