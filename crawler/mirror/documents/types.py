"""Decide which bodies are documents with links, by their declared type or first bytes."""

from __future__ import annotations

import re
from enum import Enum
from urllib.parse import urlsplit

from crawler.reading.content_types import why_not_html


class DocumentType(Enum):
    """The syntax of a document."""

    HTML = "html"
    XML = "xml"
    CSS = "css"


XML_TYPES = frozenset(
    {
        "application/xhtml+xml",
        "application/vnd.wap.xhtml+xml",
        "application/xml",
        "text/xml",
        "image/svg+xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
    }
)
_VAGUE_TYPES = frozenset(
    {"", "*/*", "application/octet-stream", "binary/octet-stream", "text/plain"}
)
_SNIFFED_BYTES = 2048
_XML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml\s|<(?:svg|rss|feed|rdf:RDF)[\s>])", re.IGNORECASE
)


def document_type(body: bytes, url: str, content_type: str | None) -> DocumentType | None:
    """Return the syntax of a body, or None if it can hold no links.

    If the declared type is of no use, the first bytes tell HTML and XML, and the end of the URL's
    path a style sheet.
    """
    declared = (content_type or "").partition(";")[0].strip().lower()
    if declared == "text/css":
        return DocumentType.CSS
    if declared in XML_TYPES:
        return DocumentType.XML
    if why_not_html(content_type, body) is None:
        return DocumentType.HTML
    if declared not in _VAGUE_TYPES:
        return None
    if _XML_START.match(body[:_SNIFFED_BYTES]):
        return DocumentType.XML
    return DocumentType.CSS if _path(url).endswith(".css") else None


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.lower()
    except ValueError:
        return ""
