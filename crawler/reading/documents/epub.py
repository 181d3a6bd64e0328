"""Read electronic books (EPUB 2 and 3), chapter by chapter in the order of their spine."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from crawler.reading.documents.document_metadata import DocumentProperties, clean
from crawler.reading.documents.document_text import DocumentText, Lines, UnreadableError
from crawler.reading.documents.hypertext import add_hypertext, hyperlinks, parse_xhtml
from crawler.reading.documents.package import Package
from crawler.reading.reading import NoText

if TYPE_CHECKING:
    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CIPHER_REFERENCE = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})
_MODIFIED = "dcterms:modified"
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def read_epub(body: bytes) -> DocumentText:
    """Read a book; only its links that lead out of it count.

    Raises:
        UnreadableError: It cannot be read.
    """
    archive = Package(body)
    place = next(archive.needed("META-INF/container.xml").iter(f"{_CONTAINER}rootfile"), None)
    path = "" if place is None else place.get("full-path", "")
    package = archive.needed(path.lstrip("/"))
    encrypted = _encrypted(archive.tree("META-INF/encryption.xml"))
    lines, links = Lines(), list[str]()
    for name in _chapters(package, posixpath.dirname(path)):
        if name in encrypted:
            raise UnreadableError(NoText.ENCRYPTED, "its chapters are encrypted")
        content = archive.read(name)
        if content:
            root = parse_xhtml(content)
            add_hypertext(root, lines)
            links += filter(_ABSOLUTE.match, hyperlinks(root))
    return DocumentText(lines.blocks, _metadata(package), links)


def _chapters(package: Element, folder: str) -> list[str]:
    """Return the names of the chapters, each once, in the order in which they are read."""
    items = {
        item.get("id"): item.get("href", "")
        for item in package.iter(f"{_OPF}item")
        if item.get("media-type", "").lower() in _CHAPTER_TYPES
    }
    spine = [reference.get("idref") for reference in package.iter(f"{_OPF}itemref")]
    paths = [unquote(items[name].partition("#")[0]) for name in spine if name in items]
    return list(dict.fromkeys(posixpath.normpath(posixpath.join(folder, path)) for path in paths))


def _encrypted(root: Element | None) -> frozenset[str]:
    """Return the names of the encrypted entries; often these are fonts alone."""
    references = () if root is None else root.iter(_CIPHER_REFERENCE)
    return frozenset(unquote(one.get("URI", "")) for one in references)


def _metadata(package: Element) -> Metadata:
    def first(name: str) -> str | None:
        return next((text for one in package.iter(_DC + name) if (text := clean(one.text))), None)

    authors = [clean(one.text) for one in package.iter(f"{_DC}creator")][:10]
    subjects = filter(None, (clean(one.text) for one in package.iter(f"{_DC}subject")))
    changes = (one for one in package.iter(f"{_OPF}meta") if one.get("property") == _MODIFIED)
    changed = next(changes, None)
    return DocumentProperties(
        title=[("dc:title", first("title"))],
        author=[("dc:creator", ", ".join(dict.fromkeys(filter(None, authors))))],
        date=[("dc:date", first("date"))],
        modified=[(_MODIFIED, None if changed is None else changed.text)],
        language=[("dc:language", first("language"))],
        description=[("dc:description", first("description"))],
        tags=[("dc:subject", ",".join(subjects))],
    ).metadata()
