"""Read the paragraphs of hypertext within a document: chapters of EPUB 2 and 3, and entries."""

from __future__ import annotations

import posixpath
import re
from html.entities import name2codepoint
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lxml.etree import iterwalk

from crawler.reading.content.blocks import RUBY
from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import (
    CODE,
    HEADINGS,
    ITEM,
    PARAGRAPH,
    ROW,
    DocumentProperties,
    DocumentText,
    Lines,
    UnreadableError,
    clean,
)
from crawler.reading.documents.package import Package, parse_xml
from crawler.reading.html_parsing import parse
from crawler.reading.reading import NoText
from crawler.reading.text import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata

Element = Any  # lxml has no types

_XHTML = "{http://www.w3.org/1999/xhtml}"
_BLOCKS = frozenset(BLOCKS) | {"body", "html"}
_HIDDEN = frozenset({"head", "script", "style", "noscript", "template"})
_CELLS = frozenset({"td", "th"})
# What stands at both ends of a block that is within a row or within code.
_INNER = {ROW: " ", CODE: "\n"}
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);")
_OF_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


def parse_xhtml(content: bytes) -> Element:
    """Return the root of a chapter: XHTML, or else HTML.

    A parser of HTML takes ``<title/>`` for a title that lasts to the end.
    """
    try:
        return parse_xml(_ENTITY.sub(_number, content))
    except UnreadableError:
        return parse(decode(content, "application/xhtml+xml").utf8)


def parse_fragment(text: str) -> Element:
    """Return the root of a fragment of HTML, as feeds have it."""
    return parse(decode(text.encode("utf-8", "replace"), "text/html; charset=utf-8").utf8)


def add_hypertext(root: Element, lines: Lines) -> None:
    """Add the paragraphs below an element, without recursion.

    Raises:
        UnreadableError: The document says too much.
    """
    said: list[str] = []
    kinds = [PARAGRAPH]
    walk = iterwalk(root, events=("start", "end"))
    for event, element in walk:
        name = _name(element)
        is_block = name in _BLOCKS
        if event == "start":
            if name in _HIDDEN:
                walk.skip_subtree()
                continue
            if is_block:
                if kinds[-1] not in _INNER:
                    _flush(said, kinds[-1], lines)
                else:
                    said.append("\t" if name in _CELLS else _INNER[kinds[-1]])
                kinds.append(_kind(name, kinds[-1]))
            said.append(RUBY[0] if name == "rt" and _lacks_brackets(element) else "")
            said.append(element.text or "")
            continue
        if name == "rt" and _lacks_brackets(element):
            said.append(RUBY[1])
        if is_block and name not in _HIDDEN:
            kind = kinds.pop()
            if kinds[-1] not in _INNER:
                _flush(said, kind, lines)
            elif name not in _CELLS:
                said.append(_INNER[kinds[-1]])
        if element is not root:
            said.append(element.tail or "")
    _flush(said, PARAGRAPH, lines)


def hyperlinks(root: Element) -> Iterator[str]:
    """Yield the targets of the links below an element, as written."""
    for element in root.iter("a", f"{_XHTML}a"):
        if target := element.get("href"):
            yield target


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _lacks_brackets(reading: Element) -> bool:
    """Return whether a page does not bracket the reading of a ruby for browsers without ruby."""
    before = reading.getprevious()
    is_empty = not reading.text and not len(reading)
    return not is_empty and (before is None or _name(before) != "rp")


def _kind(name: str, outer: str) -> str:
    if outer in _INNER:
        return outer
    if name in HEADINGS:
        return name
    if name in {"li", "dd"}:
        return ITEM
    return {"tr": ROW, "pre": CODE}.get(name, outer if outer == ITEM else PARAGRAPH)


def _flush(said: list[str], kind: str, lines: Lines) -> None:
    text = "".join(said)
    said.clear()
    if kind == CODE:
        for line in text.split("\n"):
            lines.add(kind, line)
    else:
        outside, tab, cells = text.partition("\t")
        is_table = kind == ROW and tab and not outside.strip()
        lines.add(kind, cells if is_table else text)


def _number(match: re.Match[bytes]) -> bytes:
    name = match[1]
    code = None if name in _OF_XML else name2codepoint.get(name.decode())
    return match[0] if code is None else b"&#%d;" % code


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
