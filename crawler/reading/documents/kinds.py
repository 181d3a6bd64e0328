"""Decide which kind of document an answer is, by its first bytes or else by its declared type.

A URL is never asked: ``report.pdf`` may be a login page. Nothing is unpacked here, since this
is asked in the main process.
"""

from __future__ import annotations

import re
from enum import StrEnum
from importlib.util import find_spec

from crawler.reading.content_types import SNIFFED_BYTES, why_not_html


class DocumentKind(StrEnum):
    """The kinds of documents whose text is read."""

    PDF = "pdf"
    WORD = "word"
    SLIDES = "slides"
    OPEN_DOCUMENT = "opendocument"
    EPUB = "epub"
    TEXT = "text"
    MARKDOWN = "markdown"
    FEED = "feed"


NAMES = {
    DocumentKind.PDF: "a PDF document",
    DocumentKind.WORD: "a Word document",
    DocumentKind.SLIDES: "slides",
    DocumentKind.OPEN_DOCUMENT: "an OpenDocument file",
    DocumentKind.EPUB: "an EPUB book",
    DocumentKind.TEXT: "plain text",
    DocumentKind.MARKDOWN: "Markdown",
    DocumentKind.FEED: "a feed",
}
"""Map kinds to what people read of them."""

ENDINGS: dict[str, DocumentKind] = {
    "pdf": DocumentKind.PDF,
    "docx": DocumentKind.WORD,
    "docm": DocumentKind.WORD,
    "pptx": DocumentKind.SLIDES,
    "ppsx": DocumentKind.SLIDES,
    "odt": DocumentKind.OPEN_DOCUMENT,
    "odp": DocumentKind.OPEN_DOCUMENT,
    "ods": DocumentKind.OPEN_DOCUMENT,
    "epub": DocumentKind.EPUB,
    "txt": DocumentKind.TEXT,
    "md": DocumentKind.MARKDOWN,
    "rss": DocumentKind.FEED,
    "atom": DocumentKind.FEED,
}
"""Map the usual endings of files to their kinds: links that end so are not taken for files."""

_PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
_TYPES = {
    "text/plain": DocumentKind.TEXT,
    "text/markdown": DocumentKind.MARKDOWN,
    "text/x-markdown": DocumentKind.MARKDOWN,
}
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_XML_TYPES = _FEED_TYPES | {"application/xml", "text/xml"}
_DOCUMENT_TYPES = re.compile(
    r"application/(?:epub\+zip|vnd\.(?:openxmlformats|oasis|ms-(?:word|powerpoint)))"
)
# Programs that hand out files declare documents as anything else, such as application/msword.
_NO_DOCUMENT = re.compile(
    r"(?:audio|font|image|model|text|video)/(?!.*pdf)|application/.*(?:json|javascript|mp4|ogg)"
)
_FEED_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<!--(?:(?!-->).)*+-->|<\?[^>]*+>|<!DOCTYPE[^>\[]*+>)*+"
    rb"<(?:rss[\s>]|(?:\w+:)?feed\s[^>]*http://www\.w3\.org/2005/Atom"
    rb"|(?:\w+:)?RDF\s[^>]*http://purl\.org/rss/)",
    re.IGNORECASE | re.DOTALL,
)
_ZIP = b"PK\x03\x04"
# The first entry of OpenDocument and EPUB files, stored and not compressed, says what they are.
_SIGNED = re.compile(rb"PK\x03\x04.{26}mimetype", re.DOTALL)
_OPEN_DOCUMENT = re.compile(
    rb"application/vnd\.oasis\.opendocument\.(?:text|presentation|spreadsheet)"
)
_SIGNED_BYTES = 192
# A writer of documents may put any of their entries first.
_ENTRY = re.compile(
    rb"PK\x03\x04.{26}(?:mimetype|\[Content_Types\]|_rels/|word/|ppt/|docProps/|docMetadata/"
    rb"|customXml/|META-INF/|OEBPS/|OPS/|EPUB/)",
    re.DOTALL,
)
_TAIL_BYTES = 1 << 20
# ISO 32000 lets other bytes stand before the header, as some mail programs write them.
_PDF_MAX_START = 1024
# Bytes that stand in no text (https://mimesniff.spec.whatwg.org/#binary-data-byte).
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


def readable_kinds() -> frozenset[str]:
    """Return the kinds that this installation reads: PDF only with the extra ``documents``."""
    is_pdf_read = find_spec("pypdfium2") and find_spec("playa")
    missing = set() if is_pdf_read else {DocumentKind.PDF}
    return frozenset(DocumentKind) - missing


def document_kind(content_type: str | None, body: bytes) -> DocumentKind | None:
    """Return the kind of a document, or None for a page and for any other file."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    start = body[:SNIFFED_BYTES]
    if start.startswith(b"%PDF-"):
        return DocumentKind.PDF
    if start.startswith(_ZIP):
        return _packed_kind(body)
    if declared in _PDF_TYPES:
        return DocumentKind.PDF if b"%PDF-" in start[:_PDF_MAX_START] else None
    if declared in _XML_TYPES:
        return DocumentKind.FEED if _FEED_ROOT.match(_narrow(start)) else None
    kind = _TYPES.get(declared)
    if kind is None or not body or why_not_html(content_type, body) != declared:
        return None
    return None if _is_binary(start) else kind


def may_be_document(content_type: str) -> bool:
    """Return whether the declared type leaves it possible that a body is a document."""
    declared = content_type.partition(";")[0].strip().lower()
    return declared in _TYPES.keys() | _XML_TYPES or _NO_DOCUMENT.match(declared) is None


def may_begin_document(content_type: str, start: bytes, kinds: frozenset[str]) -> bool:
    """Return whether a body may be a document of some kinds, by its first bytes alone."""
    if kinds and start.startswith(_ZIP):
        is_declared = _DOCUMENT_TYPES.match(content_type.strip().lower()) is not None
        return is_declared or _ENTRY.search(start) is not None
    return document_kind(content_type, start) in kinds


def _packed_kind(body: bytes) -> DocumentKind | None:
    if _SIGNED.match(body):
        said = body[:_SIGNED_BYTES]
        if b"application/epub+zip" in said:
            return DocumentKind.EPUB
        return DocumentKind.OPEN_DOCUMENT if _OPEN_DOCUMENT.search(said) else None
    names = body[-_TAIL_BYTES:]  # the list of entries is at the end
    if b"[Content_Types].xml" not in names:
        return DocumentKind.EPUB if b"META-INF/container.xml" in names else None
    if b"word/document" in names:
        return DocumentKind.WORD
    return DocumentKind.SLIDES if b"ppt/presentation" in names else None


def _narrow(start: bytes) -> bytes:
    """Return the beginning of a text in UTF-16 as if each character were one byte."""
    return start[2 * start.startswith(_WIDE_MARKS) :].replace(b"\0", b"")


def _is_binary(start: bytes) -> bool:
    return not start.startswith(_WIDE_MARKS) and _BINARY.search(start) is not None
