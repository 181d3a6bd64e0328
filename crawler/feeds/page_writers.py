"""Write a page as a document: Markdown with front matter, plain text, XML or HTML."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml.etree import Element, SubElement

from crawler.reading.content.content_text import Shown, html, markdown, plain_text, prepared, xml
from crawler.reading.content.content_xml import NOT_IN_XML, unpack_content

if TYPE_CHECKING:
    from collections.abc import Callable

MEDIA_TYPES = {
    "markdown": "text/markdown",
    "text": "text/plain",
    "xml": "application/xml",
    "html": "text/html",
}
"""The formats of documents, each with its media type."""

_FRONT_MATTER = (
    "title", "author", "date", "modified", "url", "sitename", "description", "language",
    "categories", "tags", "page_type", "words", "fetched_at",
)  # fmt: skip
# Languages that are written from right to left.
_RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he ks ps sd ug ur yi".split())
_BLOCKS = ("p", "head", "item", "quote", "row", "cell", "code")

# A string of JSON is one of YAML, but for characters that YAML calls unprintable.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


class PageWriter(NamedTuple):
    """Writes pages in one format.

    Attributes:
        kind: A key of ``MEDIA_TYPES``.
        shown: What is written beside the words.
        is_common: Tells of a URL and a block of its text whether that is boilerplate; None: none
            is left out. A content that is nothing else stays whole.
    """

    kind: str
    shown: Shown = Shown()
    is_common: Callable[[str, str], bool] | None = None

    def write(self, page: dict[str, Any], content: bytes) -> str:
        """Return a page as a document.

        Args:
            page: Fields of ``crawler.items.Page``.
            content: Its content as it is stored.

        Raises:
            ContentError: The content cannot be read.
        """
        body = prepared(content, page["url"], self.shown)
        if self.is_common is not None:
            body = _without(body, page["url"], self.is_common)
        if self.kind == "markdown":
            return f"{front_matter(page)}\n{markdown(body)}\n"
        if self.kind == "text":
            return f"{plain_text(body)}\n"
        if self.kind == "xml":
            return _xml_of(page, body)
        return _html_of(page, body)


def front_matter(page: dict[str, Any]) -> str:
    """Return the metadata of a page as YAML between lines of three dashes."""
    fields = {name: page.get(name) for name in _FRONT_MATTER}
    lines = (f"{name}: {_yaml(value)}\n" for name, value in fields.items() if value)
    return f"---\n{''.join(lines)}---\n"


def _yaml(value: Any) -> str:
    said = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", said)


def _metadata(page: dict[str, Any]) -> dict[str, str]:
    """Return metadata as strings that XML can hold."""
    found = {}
    for name in _FRONT_MATTER:
        value = page.get(name)
        if value:
            said = ";".join(map(str, value)) if isinstance(value, list) else str(value)
            found[name] = NOT_IN_XML.sub("", said)
    return found


def _xml_of(page: dict[str, Any], body: Any) -> str:
    root = Element("doc", _metadata(page))
    body.tag = "main"
    root.append(body)
    return f"{xml(root)}\n"


def _html_of(page: dict[str, Any], body: Any) -> str:
    root, head = html(body), Element("head")
    SubElement(head, "meta", charset="utf-8")
    metadata = _metadata(page)
    if language := metadata.get("language"):
        root.set("lang", language)
        if language.partition("-")[0].lower() in _RIGHT_TO_LEFT:
            root.set("dir", "rtl")
    SubElement(head, "title").text = metadata.get("title", metadata["url"])
    for name, value in metadata.items():
        SubElement(head, "meta", name=name, content=value)
    root.insert(0, head)
    return f"<!DOCTYPE html>\n{xml(root, method='html')}\n"


def text_without(content: bytes, url: str, is_common: Callable[[str, str], bool]) -> str:
    """Return a stored content as plain text, without the blocks that are boilerplate.

    Raises:
        ContentError: It cannot be read.
    """
    return plain_text(_without(unpack_content(content), url, is_common))


def _without(body: Any, url: str, is_common: Callable[[str, str], bool]) -> Any:
    """Return a content without the blocks that are boilerplate; whole if there is nothing else."""
    clean = deepcopy(body)
    for element in list(clean.iter(*_BLOCKS)):
        parent = element.getparent()
        cells = element.findall("cell") or [element]
        text = " ".join(" ".join("".join(cell.itertext()) for cell in cells).split())
        if parent is not None and text and is_common(url, text):
            before = element.getprevious()
            if element.tail and element.tail.strip():
                if before is None:
                    parent.text = f"{parent.text or ''} {element.tail}"
                else:
                    before.tail = f"{before.tail or ''} {element.tail}"
            parent.remove(element)
    return clean if "".join(clean.itertext()).strip() else body
